package term

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpColumns is how wide a help page may be.
const helpColumns = 80

// Help prints a command's page. It is code rather than one of cobra's
// templates: linking those makes every start slower.
func Help(w io.Writer, cmd *cobra.Command) {
	if cmd.Long != "" {
		fmt.Fprintln(w, cmd.Long)
	} else {
		fmt.Fprintln(w, cmd.Short+".")
	}
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " <command>"
		if cmd != cmd.Root() && cmd.Runnable() {
			use = cmd.CommandPath() + " [command]"
		}
	}
	fmt.Fprintf(w, "\nUsage:\n  %s\n", strings.TrimSuffix(use, " [flags]"))
	helpCommands(w, cmd)
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	helpFlags(w, "Flags", ownFlags(cmd))
	helpFlags(w, "Global flags", cmd.Root().PersistentFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nRun '%s <command> --help' for a command's page.\n", cmd.CommandPath())
	}
}

func helpCommands(w io.Writer, cmd *cobra.Command) {
	wide := 13
	for _, c := range cmd.Commands() {
		wide = max(wide, len(c.Name())+1)
	}
	list := func(title, group string) {
		first := true
		for _, c := range cmd.Commands() {
			if !c.IsAvailableCommand() || c.GroupID != group {
				continue
			}
			if first {
				fmt.Fprintf(w, "\n%s:\n", title)
				first = false
			}
			fmt.Fprintf(w, "  %-*s %s\n", wide, c.Name(), c.Short)
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	list("Commands", "")
}

// ownFlags are a command's flags, with those of the noun it belongs to.
func ownFlags(cmd *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	own.AddFlagSet(cmd.LocalNonPersistentFlags())
	for at := cmd; at != nil && at.HasParent(); at = at.Parent() {
		own.AddFlagSet(at.PersistentFlags())
	}
	return own
}

func helpFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	if text := flags.FlagUsagesWrapped(helpColumns); strings.TrimSpace(text) != "" {
		fmt.Fprintf(w, "\n%s:\n%s", title, text)
	}
}

// Child returns the command of that name right below cmd, or nil.
func Child(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// nearest returns the command whose name is closest to what was typed, or ""
// when none is close.
func nearest(typed string, cmds []*cobra.Command) string {
	best, least := "", 2*(1+max(2, len(typed)/2))
	for _, c := range cmds {
		if !c.IsAvailableCommand() && c.Name() != "help" {
			continue
		}
		d := 2 * distance(strings.ToLower(typed), c.Name())
		if sameLetters(typed, c.Name()) {
			d = 1 // two keys in the wrong order is the likeliest slip
		}
		if strings.HasPrefix(c.Name(), typed) && len(typed) > 1 {
			d = 0
		}
		if d < least {
			best, least = c.Name(), d
		}
	}
	return best
}

func sameLetters(a, b string) bool {
	x, y := []byte(strings.ToLower(a)), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// distance counts the letters to add, drop or change to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			prev, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, prev+cost)
		}
	}
	return row[len(b)]
}
