package term

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svc-hq/svc/internal/core/version"
)

// WriteManuals writes the pages of cmd and all below it into a folder.
func WriteManuals(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range Tree(root) {
		if err := os.WriteFile(filepath.Join(dir, manName(c)+".1"), []byte(Manual(c)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Tree returns cmd and all below it that people may see.
func Tree(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, Tree(c)...)
		}
	}
	return out
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// Manual writes a command's page in the language of man.
func Manual(cmd *cobra.Command) string {
	var b strings.Builder
	name := manName(cmd)
	fmt.Fprintf(&b, ".TH \"%s\" \"1\" \"\" \"svc %s\" \"svc manual\"\n", strings.ToUpper(name), version.Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fR\n", roff(strings.TrimSuffix(cmd.UseLine(), " [flags]")))
	if cmd.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(cmd.Long))
	}
	if subs := Tree(cmd)[1:]; len(subs) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range subs {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(c.CommandPath()), roff(c.Short))
		}
	}
	manFlags(&b, "OPTIONS", ownFlags(cmd))
	manFlags(&b, "GLOBAL OPTIONS", cmd.Root().PersistentFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\n" + roff(exitTable))
	return b.String()
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", roff(name), roff(f.Usage))
	})
}

// exitTable is what exit codes mean, the same for every command.
const exitTable = "0 for success, 1 for no: blocked, not free, refused or failed, 2 for a mistake in the command line, " +
	"3 when nobody is logged in, 4 when the service cannot be reached, 130 when cancelled.\n"

// roff escapes what man would take for commands.
func roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
