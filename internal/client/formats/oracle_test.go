package formats

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
)

var askOracle = flag.Bool("oracle", false, "ask buf and oasdiff, which must be on PATH, again")

// oracles are independent tools that judge the same changes. Their answers are
// kept in the fixtures, so that ordinary runs need neither.
var oracles = []struct {
	file string
	ask  func(t *testing.T, base, side string) coord.Compatibility
}{
	{"protobuf", askBuf},
	{"openapi", askOasdiff},
}

// Where we judge otherwise than the tool, the fixture must say why.
func TestCompatibilityAgreesWithTheOracle(t *testing.T) {
	total := 0
	for _, o := range oracles {
		name := filepath.Join("..", "analysis", "testdata", "oracle", o.file+".txtar")
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		total += len(ar.Files) - 3 // the base, the answers and the disagreements
		t.Run(o.file, func(t *testing.T) {
			base := ar.Files[0]
			said, reasons := pairs(ar, "oracle"), pairs(ar, "disagreements")
			var answers bytes.Buffer
			for _, c := range ar.Files[1:] {
				if c.Name == "oracle" || c.Name == "disagreements" {
					continue
				}
				side := change(t, c.Name, string(base.Data), string(c.Data))
				ours, why := judge(t, base.Name, base.Data, []byte(side))
				if *askOracle {
					said[c.Name] = string(o.ask(t, string(base.Data), side))
					fmt.Fprintf(&answers, "%s: %s\n", c.Name, said[c.Name])
				}
				reason, listed := reasons[c.Name]
				switch agree := said[c.Name] == string(ours); {
				case said[c.Name] == "":
					t.Errorf("%s: the oracle was not asked", c.Name)
				case !agree && !listed:
					t.Errorf("%s: we say %s (%s), the oracle %s", c.Name, ours, why, said[c.Name])
				case agree && listed:
					t.Errorf("%s: both say %s, yet it is listed: %s", c.Name, ours, reason)
				}
			}
			if *askOracle {
				at := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "oracle" })
				ar.Files[at].Data = answers.Bytes()
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if total < 60 {
		t.Errorf("only %d changes", total)
	}
}

// pairs reads "name: text" lines of a part.
func pairs(ar *txtar.Archive, part string) map[string]string {
	out := map[string]string{}
	for _, f := range ar.Files {
		if f.Name != part {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			if name, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
				out[name] = text
			}
		}
	}
	return out
}

// change replaces the lines marked - by those marked +, wherever they stand first.
func change(t *testing.T, name, base, edit string) string {
	t.Helper()
	var old, new []string
	scan := bufio.NewScanner(strings.NewReader(edit))
	for scan.Scan() {
		switch line := scan.Text(); {
		case strings.HasPrefix(line, "- "), line == "-":
			old = append(old, strings.TrimPrefix(line[1:], " "))
		case strings.HasPrefix(line, "+ "), line == "+":
			new = append(new, strings.TrimPrefix(line[1:], " "))
		}
	}
	side := strings.Replace(base, strings.Join(old, "\n"), strings.Join(new, "\n"), 1)
	if side == base {
		t.Fatalf("%s changes nothing", name)
	}
	return side
}

// judge is our verdict on a change: the gravest of its contracts.
func judge(t *testing.T, file string, base, edited []byte) (coord.Compatibility, string) {
	t.Helper()
	lang := rules.LanguageOf(file)
	old, _ := Read(base, file, lang)
	new, ok := Read(edited, file, lang)
	if !ok {
		t.Fatalf("the changed document does not parse:\n%s", edited)
	}
	var vs []verdict.Verdict
	for _, f := range contract.Facts(old, new, false, false) {
		why := ""
		if f.Detail != nil {
			why = f.Key + " " + *f.Detail
		}
		vs = append(vs, verdict.Verdict{Compat: f.Compatibility, Detail: why})
	}
	v := verdict.Worst(vs)
	return v.Compat, v.Detail
}

func askBuf(t *testing.T, base, side string) coord.Compatibility {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"old/a.proto": base, "new/a.proto": side, "old/buf.yaml": bufConfig, "new/buf.yaml": bufConfig} {
		write(t, filepath.Join(dir, name), text)
	}
	out, err := exec.Command("buf", "breaking", filepath.Join(dir, "new"), "--against", filepath.Join(dir, "old")).CombinedOutput()
	if err == nil {
		return coord.Compatible
	}
	if !strings.Contains(string(out), "a.proto") {
		t.Fatalf("buf: %v\n%s", err, out)
	}
	return coord.Breaking
}

const bufConfig = "version: v2\nbreaking:\n  use: [FILE]\n"

func askOasdiff(t *testing.T, base, side string) coord.Compatibility {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "old.yaml"), base)
	write(t, filepath.Join(dir, "new.yaml"), side)
	cmd := exec.Command("oasdiff", "changelog", "--format", "json", filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("oasdiff: %v\n%s%s", err, out, &stderr)
	}
	var found []struct{ Level int }
	if err := json.Unmarshal(out, &found); err != nil && len(bytes.TrimSpace(out)) > 0 {
		t.Fatalf("oasdiff: %v\n%s", err, out)
	}
	c := coord.Compatible
	for _, f := range found {
		switch {
		case f.Level >= 3:
			return coord.Breaking
		case f.Level == 2:
			c = coord.Unknown
		}
	}
	return c
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
