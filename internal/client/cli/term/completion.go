package term

import (
	"io"

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

// Choices offers fixed values for a flag.
func Choices(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}
