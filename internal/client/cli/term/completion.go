package term

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// BashCompletion is the script for bash. What it takes from the package
// bash-completion it brings along, for where that is not installed, as on a
// Mac; and bash must not take the @ of a name for the end of a word.
func BashCompletion(root *cobra.Command, w io.Writer) error {
	if err := root.GenBashCompletionV2(w, true); err != nil {
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

// Choices offers fixed values for a flag, after a comma the next of several.
func Choices(cmd *cobra.Command, flag string, values ...string) {
	ChoicesOf(cmd, flag, func() []string { return values })
}

// ChoicesOf is Choices with values that cost something to list.
func ChoicesOf(cmd *cobra.Command, flag string, values func() []string) {
	offer := func(_ *cobra.Command, _ []string, typed string) (out []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		for _, v := range values() {
			if strings.HasPrefix(before+v, typed) {
				out = append(out, before+v)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(err) // there is no such flag
	}
}

// Then offers fixed values for the second argument, after what the command
// offers for the first.
func Then(cmd *cobra.Command, values ...string) {
	first := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !strings.HasPrefix(v, prefix) }),
				cobra.ShellCompDirectiveNoFileComp
		}
		return first(cmd, args, prefix)
	}
}
