package githost

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/coord"
)

func TestWhereTheAPIIs(t *testing.T) {
	for web, want := range map[string]string{
		"https://github.com":             "https://api.github.com",
		"https://www.github.com":         "https://api.github.com",
		"https://acme.ghe.com":           "https://api.acme.ghe.com",
		"https://github.example.com":     "https://github.example.com/api/v3",
		"https://example.com:8443/":      "https://example.com:8443/api/v3",
		"https://notghe.com":             "https://notghe.com/api/v3",
		"http://127.0.0.1:3000":          "http://127.0.0.1:3000/api/v3",
		"https://github.com.example.com": "https://github.com.example.com/api/v3",
	} {
		if got := APIOf(web); got != want {
			t.Errorf("APIOf(%s) = %s, want %s", web, got, want)
		}
	}
}

func hashOf(lines string) string {
	sum := sha256.Sum256([]byte(lines))
	return hex.EncodeToString(sum[:16])
}

func TestHunksOfAPatch(t *testing.T) {
	for _, tt := range []struct {
		name, patch string
		want        []coord.Hunk
	}{
		{"nothing", "", []coord.Hunk{}},
		{
			"lines replaced amid others",
			"@@ -9,5 +9,3 @@ func f() {\n x\n-a\n-b\n-c\n+d\n y",
			[]coord.Hunk{{Start: 10, Count: 3, LinesHash: hashOf("d\n")}},
		},
		{"an insertion", "@@ -4,2 +4,3 @@\n x\n+new\n y", []coord.Hunk{{Start: 5, Count: 0, LinesHash: hashOf("new\n")}}},
		{"an insertion without context", "@@ -4,0 +5 @@\n+new", []coord.Hunk{{Start: 5, Count: 0, LinesHash: hashOf("new\n")}}},
		{"an empty file filled", "@@ -0,0 +1,2 @@\n+a\n+b", []coord.Hunk{{Start: 1, Count: 0, LinesHash: hashOf("a\nb\n")}}},
		{
			"two places in one hunk",
			"@@ -1,5 +1,5 @@\n-a\n+A\n x\n y\n-b\n+B\n z",
			[]coord.Hunk{{Start: 1, Count: 1, LinesHash: hashOf("A\n")}, {Start: 4, Count: 1, LinesHash: hashOf("B\n")}},
		},
		{
			"no newline at the end",
			"@@ -3 +3 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file",
			[]coord.Hunk{{Start: 3, Count: 1, LinesHash: hashOf("b\n\x00")}},
		},
		{
			"lines that look like a header",
			"@@ -1,2 +1,2 @@\n-@@ -1 +1 @@\n+@@ x @@\n y",
			[]coord.Hunk{{Start: 1, Count: 1, LinesHash: hashOf("@@ x @@\n")}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, hunksOf(tt.patch)); diff != "" {
				t.Errorf("hunks differ (-want +got)\n%s", diff)
			}
		})
	}
}

// The ranges are those of a patch without context, however much there is.
func TestContextDoesNotMatter(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		file := func(name string) string {
			n := rapid.IntRange(0, 12).Draw(t, name+" lines")
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "%s\n", rapid.SampledFrom([]string{"a", "b", "c", "", "-x", "+y", "@@"}).Draw(t, fmt.Sprint(name, i)))
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		before, after := file("old"), file("new")
		patch := func(context string) string {
			out, _ := exec.Command("git", "diff", "--no-index", "--no-color", context, before, after).Output() // which fails where they differ
			_, hunks, ok := strings.Cut(string(out), "\n@@")
			if !ok {
				return ""
			}
			return "@@" + strings.TrimSuffix(hunks, "\n")
		}
		if diff := cmp.Diff(hunksOf(patch("-U0")), hunksOf(patch("-U3"))); diff != "" {
			t.Fatalf("hunks differ (-without +with context)\n%s\n%s", diff, patch("-U3"))
		}
	})
}

func FuzzHunksOf(f *testing.F) {
	f.Add("@@ -9,5 +9,3 @@\n x\n-a\n+d\n y")
	f.Add("@@ -0,0 +1 @@\n+a\n\\ No newline at end of file")
	f.Fuzz(func(t *testing.T, patch string) {
		for _, h := range hunksOf(patch) {
			if h.Start < 1 || h.Count < 0 || h.LinesHash == "" {
				t.Errorf("a hunk %+v", h)
			}
		}
	})
}

// Whatever a host sends, reading it gives one thing to do, or none with a
// reason, or an error.
func FuzzReadHooks(f *testing.F) {
	for _, kind := range []string{"pull_request", "push", "installation", "installation_repositories", "merge_request", "ping"} {
		f.Add(kind, []byte(`{"action":"opened","pull_request":{"number":1},"repository":{"full_name":"a/b"}}`))
		f.Add(kind,
			[]byte(`{"object_kind":"`+kind+`","object_attributes":{"iid":1,"action":"open","state":"opened","updated_at":"x"},`+
				`"project":{"path_with_namespace":"a/b"}}`))
		f.Add(kind, []byte(`{"ref":"refs/heads/main","commits":[null,{"added":["a"]}]}`))
		f.Add(kind, []byte(`{"installation":null,"repositories":[null]}`))
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		check := func(e Event, err error) {
			n := 0
			for _, set := range []bool{e.Pull != nil, e.Push != nil, e.Installed != nil, e.Nothing != ""} {
				if set {
					n++
				}
			}
			if err == nil && n != 1 {
				t.Errorf("%q %q = %+v", kind, body, e)
			}
		}
		check(ReadGitHub(kind, "id", body))
		check(ReadGitLab("id", "", body))
	})
}

func TestTimesOfGitLab(t *testing.T) {
	for _, text := range []string{
		"2026-11-15 09:30:00 UTC", "2026-11-15T09:30:00Z", "2026-11-15T10:30:00.000+01:00", "2026-11-15 10:30:00 +0100",
	} {
		e, err := ReadGitLab("", "",
			[]byte(`{"object_kind":"merge_request","project":{"path_with_namespace":"a/b"},"object_attributes":{"iid":1,"action":"open",`+
				`"state":"opened","updated_at":"`+text+`"}}`))
		if want := time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC).UnixMilli(); err != nil || e.Pull == nil || int64(e.Pull.ChangedAt) != want {
			t.Errorf("%s is read as %+v (%v)", text, e.Pull, err)
		}
	}
}

func TestWhatGitHubsErrorsMean(t *testing.T) {
	var status int
	var header http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header()[k] = v
		}
		w.WriteHeader(status)
		help := "https://docs.github.com/rest"
		if status == 429 {
			help += "/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
		}
		fmt.Fprintf(w, `{"message":"no","documentation_url":%q}`, help)
	}))
	defer srv.Close()
	now := time.Now()
	for _, tt := range []struct {
		name   string
		status int
		header http.Header
		wait   time.Duration // at least
		gone   bool
	}{
		{"not there", 404, nil, 0, true},
		{"not allowed", 403, http.Header{"X-Ratelimit-Remaining": {"5"}}, 0, true},
		{"not valid", 422, nil, 0, true},
		{"down", 502, nil, 0, false},
		{
			"over the limit",
			403,
			http.Header{
				"X-Ratelimit-Limit":     {"60"},
				"X-Ratelimit-Remaining": {"0"},
				"X-Ratelimit-Reset":     {fmt.Sprint(now.Add(10 * time.Minute).Unix())},
			},
			9 * time.Minute,
			false,
		},
		{"too fast", 429, http.Header{"Retry-After": {"30"}}, 30 * time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, header = tt.status, tt.header
			g := NewGitHub(http.DefaultTransport)
			_, err := g.Convert(t.Context(), srv.URL, "code")
			if err == nil {
				t.Fatal("no error")
			}
			wait := Wait(err)
			if wait < tt.wait || tt.wait == 0 && wait != 0 {
				t.Errorf("wait %v, want %v: %v", wait, tt.wait, err)
			}
			if got := wait == 0 && Gone(err); got != tt.gone {
				t.Errorf("gone = %v, want %v: %v", got, tt.gone, err)
			}
		})
	}
}

// Lists are read to their end, and the token goes to no other address than the
// API's, whatever the link to the next page says.
func TestPagesOfGitHub(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization")+" "+r.URL.String())
		if r.URL.Query().Get("page") == "" {
			w.Header().Add("Link", `<https://x.example.com/?page=2&per_page=100>; rel="next", <https://x.example.com/?page=9>; rel="last"`)
		}
		fmt.Fprintf(w, `{"repositories":[{"full_name":"acme/a%d"}]}`, len(asked))
	}))
	defer srv.Close()
	got, err := NewGitHub(http.DefaultTransport).Repositories(t.Context(), Access{API: srv.URL, Token: "t"})
	if err != nil || !slices.Equal(got, []string{"acme/a1", "acme/a2"}) {
		t.Errorf("repositories = %v, %v", got, err)
	}
	want := []string{"Bearer t /installation/repositories?per_page=100", "Bearer t /installation/repositories?page=2&per_page=100"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}
