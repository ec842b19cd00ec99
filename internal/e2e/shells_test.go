//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A shell completes a line of its own as when Tab is pressed at its end.
type shell struct {
	name   string
	script string // prints what is offered for $LINE, one a line; $SCRIPT is what svc completion wrote
}

var shells = []shell{
	{"bash", `
source "$SCRIPT"
COMP_LINE=$LINE COMP_POINT=${#LINE}
read -ra COMP_WORDS <<<"$LINE"
[[ $LINE == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_TYPE=63
compopt() { :; }
__start_svc
printf '%s\n' "${COMPREPLY[@]}"
`},
	{"zsh", `
autoload -Uz compinit; compinit -u -D
source "$SCRIPT"
# What the completion system would show is what the function hands to it.
_describe() { print -l -- "${completions[@]}" }
compadd() { :; }
words=(${(z)LINE}); [[ $LINE == *' ' ]] && words+=('')
CURRENT=${#words}
_svc
`},
	{"fish", `source "$SCRIPT"; complete -C "$LINE"`},
	{"pwsh", `. $env:SCRIPT; 
(TabExpansion2 -inputScript $env:LINE -cursorColumn $env:LINE.Length).CompletionMatches | % { $_.CompletionText }`},
}

// Values are completed by the real shells that there are: of records, of
// people, of flags, and of files where a path is meant.
func TestShellsCompleteValues(t *testing.T) {
	if testing.Short() {
		return
	}
	b := newBench(t)
	tried := 0
	for _, sh := range shells {
		path, err := exec.LookPath(sh.name)
		if err != nil {
			continue // bash is always there where these tests run, and .ci/needs brings zsh and fish
		}
		tried++
		t.Run(sh.name, func(t *testing.T) {
			kind := map[string]string{"pwsh": "powershell"}[sh.name]
			if kind == "" {
				kind = sh.name
			}
			_, text, errs := b.run(t, "svc completion "+kind)
			file := filepath.Join(t.TempDir(), "svc."+map[string]string{"pwsh": "ps1"}[sh.name])
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(errs, err)
			}
			for line, want := range map[string]string{
				"svc conf":                      "conflicts",
				"svc conflicts show ":           "CF-1",
				"svc intents close ":            "INT-7",
				"svc intents show INT-":         "INT-2",
				"svc messages send @b":          "@bob",
				"svc ask bob":                   "bob@example.com",
				"svc intents --repo ac":         "acme/shop",
				"svc intents declare x --mode ": "exclusive",
				"svc policy set exclusive":      "exclusive",
				"svc repos archive ":            "acme/shop",
			} {
				arg := "-c"
				if sh.name == "pwsh" {
					arg = "-Command"
				}
				cmd := exec.Command(path, arg, sh.script)
				cmd.Dir, cmd.Env = b.dir, append(b.env, "LINE="+line, "SCRIPT="+file)
				out, err := cmd.CombinedOutput()
				if !strings.Contains(string(out), want) {
					t.Errorf("%q<Tab> offers no %s: %v\n%s", line, want, err, out)
				}
			}
		})
	}
	if tried == 0 {
		t.Error("there is no shell here")
	}
}
