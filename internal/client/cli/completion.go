package cli

import (
	"io"

	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	shells := map[string]func(io.Writer) error{
		"bash":       a.bashCompletion,
		"zsh":        func(w io.Writer) error { return a.root.GenZshCompletion(w) },
		"fish":       func(w io.Writer) error { return a.root.GenFishCompletion(w, true) },
		"powershell": func(w io.Writer) error { return a.root.GenPowerShellCompletionWithDesc(w) },
	}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for your shell",
		Example: "  svc completion bash > ~/.local/share/bash-completion/completions/svc\n" +
			"  svc completion zsh > ~/.zfunc/_svc\n" +
			"  svc completion fish > ~/.config/fish/completions/svc.fish",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      exactly(1, "a shell: bash, zsh, fish or powershell"),
		RunE: func(_ *cobra.Command, args []string) error {
			gen, ok := shells[args[0]]
			if !ok {
				return usagef("no completion for %q; there is bash, zsh, fish and powershell", args[0])
			}
			return gen(a.Stdout)
		},
	}
}

// bashCompletion is the script for bash. What it takes from the package
// bash-completion it brings along, for where that is not installed, as on a
// Mac; and bash must not take the @ of a name for the end of a word.
func (a *app) bashCompletion(w io.Writer) error {
	if err := a.root.GenBashCompletionV2(w, true); err != nil {
		return err
	}
	_, err := io.WriteString(w, bashAlone)
	return err
}

const bashAlone = `
__svc_init_completion()
{
    COMPREPLY=()
    local typed=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$typed"
    [[ $typed == *[[:space:]] ]] && words+=("")
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=${words[cword-1]}
}
if ! declare -F __ltrim_colon_completions >/dev/null 2>&1; then
    __ltrim_colon_completions()
    {
        [[ $1 == *:* && $COMP_WORDBREAKS == *:* ]] || return 0
        local before=${1%"${1##*:}"} i
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
    }
fi
COMP_WORDBREAKS=${COMP_WORDBREAKS//@}
`
