package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

func completionCommand(a *app.Run) *cobra.Command {
	shells := map[string]func(io.Writer) error{
		"bash":       func(w io.Writer) error { return term.BashCompletion(a.Root, w) },
		"zsh":        func(w io.Writer) error { return a.Root.GenZshCompletion(w) },
		"fish":       func(w io.Writer) error { return a.Root.GenFishCompletion(w, true) },
		"powershell": func(w io.Writer) error { return a.Root.GenPowerShellCompletionWithDesc(w) },
	}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for your shell",
		Example: "  svc completion bash > ~/.local/share/bash-completion/completions/svc\n" +
			"  svc completion zsh > ~/.zfunc/_svc\n" +
			"  svc completion fish > ~/.config/fish/completions/svc.fish",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      term.Exactly(1, "a shell: bash, zsh, fish or powershell"),
		RunE: func(_ *cobra.Command, args []string) error {
			gen, ok := shells[args[0]]
			if !ok {
				return term.Usagef("no completion for %q; there is bash, zsh, fish and powershell", args[0])
			}
			return gen(a.Stdout)
		},
	}
}
