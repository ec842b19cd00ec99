package cli_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// What a table shows for people to type is whole at 80 columns, however long
// the rest of the row is.
func TestTablesDoNotCutWhatIsTyped(t *testing.T) {
	const long = "a very long sentence about everything that two agents did in the same file on the same day"
	email := "a.person.with.a.long.name@department.of.engineering.example.com"
	ref, repo := "CF-12345", "an-organization-with-a-long-name/a-repository-with-a-long-name-too"
	key := "http:GET /a/long/address/{of}/a/resource/{with}/many/parts/in/its/path"
	thread := "0198a000-0000-7000-8000-00000000abcd"
	items := map[string]any{
		"/v1/attention": wire.Attention{Items: []coord.AttentionItem{{
			Kind: coord.AttentionOverrideRequest, Ref: &ref, Title: long, Detail: long, Repo: &coord.RepoName{FullName: repo}, Since: daysAgo,
		}}, Total: 1},
		"/v1/members":   wire.Page[coord.Membership]{Items: []coord.Membership{{User: coord.User{Name: long, Email: email}, Role: "member"}}},
		"/v1/repos":     wire.Page[coord.Repo]{Items: []coord.Repo{{FullName: repo, DefaultBranch: long, Provider: "github"}}},
		"/v1/contracts": wire.Page[wire.ContractRecord]{Items: []wire.ContractRecord{{Key: key}}},
		"/v1/search":    wire.Page[coord.Memory]{Items: []coord.Memory{{Ref: "INT-123456", Title: long, At: daysAgo}}},
		"/v1/conversations": wire.Page[coord.Conversation]{Items: []coord.Conversation{{
			ID: thread, UpdatedAt: daysAgo, LastMessage: &coord.Message{Body: long},
		}}},
	}
	c := newContract(t)
	c.set(func() {
		for path, v := range items {
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			c.files[path] = text
		}
	})
	for command, whole := range map[string]string{
		"attention":        "svc conflicts override " + ref,
		"members":          email,
		"repos":            repo,
		"contracts":        key,
		"search anything":  "INT-123456",
		"messages threads": thread[:13] + " ",
	} {
		r := run{
			env:  map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken, "NO_COLOR": "1"},
			term: term.Terminal{Out: true, Columns: 80},
		}
		code, out, errs := r.svc(t, strings.Fields(command)...)
		if code != 0 || !strings.Contains(out, whole) {
			t.Errorf("svc %s: exit %d, %q is not whole:\n%s%s", command, code, whole, out, errs)
		}
	}
}

// offered are the words that a shell is given.
func offered(t *testing.T, r *run, args ...string) (words []string) {
	t.Helper()
	_, out, _ := r.svc(t, append([]string{"__complete"}, args...)...)
	for line := range strings.Lines(out) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); word != "" && word[0] != ':' {
			words = append(words, word)
		}
	}
	return words
}

func TestCompletionOfValues(t *testing.T) {
	for _, tt := range []struct {
		args string // the last word is what is typed of the value
		want []string
	}{
		{"feed --type conflict.d", []string{"conflict.detected"}},
		{"feed --type intent.declared,conflict.d", []string{"intent.declared,conflict.detected"}},
		{"watch --type conflict.d", []string{"conflict.detected"}},
		{"webhooks create --type conflict.d", []string{"conflict.detected"}},
		{"init --tools claude_code,cod", []string{"claude_code,codex"}},
		{"up --tools cod", []string{"codex"}},
		{"tokens create --scope hooks", []string{"hooks:evaluate"}},
		{"members invite --role ad", []string{"admin"}},
		{"search --kind conf", []string{"conflicts"}},
		{"intents declare --mode ex", []string{"exclusive"}},
		{"conflicts feedback CF-3 false", []string{"false-alarm"}},
	} {
		if got := offered(t, &run{}, strings.Fields(tt.args)...); !slices.Equal(got, tt.want) {
			t.Errorf("svc %s: %v, want %v", tt.args, got, tt.want)
		}
	}
	if got := offered(t, &run{}, "feed", "--type", "conf"); len(got) < 3 {
		t.Errorf("svc feed --type conf: %v", got)
	}
}

// free are the flags whose values nobody can know before they are typed.
var free = regexp.MustCompile(`^(note|title|summary|branch|subject|description|url|since|until|delivery|against|event|server|dir|after|` +
	`explain|input|jq|template|repos|refs|report|picture|share|token|org|pusher|(add-|remove-)?(path|symbol|contract))$`)

var stringFlag = regexp.MustCompile(`^ +(?:-\w, )?--([a-z-]+) (?:string|strings)\b`)

// Every flag with a closed set of values offers them, and every flag that names
// a record offers records: a new one is listed as free, or completes.
func TestEveryFlagCompletes(t *testing.T) {
	c := newContract(t)
	env := map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken, "SVC_CONFIG_DIR": t.TempDir()}
	c.set(func() {
		c.files["/v1/repos"] = []byte(`{"items": [{"full_name": "acme/shop"}]}`)
		c.files["/v1/contracts"] = []byte(`{"items": [{"key": "http:GET /orders"}]}`)
	})
	pages := [][]string{{}}
	checked := 0
	for i := 0; i < len(pages); i++ {
		r := run{env: env}
		_, out, _ := r.svc(t, append(slices.Clone(pages[i]), "--help")...)
		for line := range strings.Lines(out) {
			m := stringFlag.FindStringSubmatch(line)
			if m == nil || free.MatchString(m[1]) {
				continue
			}
			checked++
			if got := offered(t, &r, append(slices.Clone(pages[i]), "--"+m[1], "")...); len(got) == 0 && m[1] != "session" {
				t.Errorf("svc %s --%s offers nothing", strings.Join(pages[i], " "), m[1])
			}
		}
		for _, sub := range subcommands(out) {
			pages = append(pages, append(slices.Clone(pages[i]), sub))
		}
	}
	if checked < 15 {
		t.Errorf("only %d flags were found", checked)
	}
}
