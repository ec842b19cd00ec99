package records

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/client/marks"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// maxBlamed is the largest file that svc blame shows.
const maxBlamed = 8 << 20

// A blamed is the JSON of svc blame.
type blamed struct {
	Repo coord.RepoName `json:"repo"`
	Path string         `json:"path"`
	Work []marks.Mark   `json:"work"`
	Left int            `json:"left"`

	text      []byte
	contracts []wire.LiveContract
}

func BlameCommand(a *app.Run) *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use:   "blame PATH",
		Short: "Show who is changing the lines of a file right now",
		Long: "Like git blame, for work that has not landed: beside each line of the file as it\n" +
			"is on disk stand the person, the agent, the intent and how long ago it was\n" +
			"edited. ~ marks lines that are replaced, + the line before which some are\n" +
			"inserted. What others only claimed is listed below.",
		Example: "  svc blame auth/login.go\n  svc blame --live auth/login.go\n  svc blame --json auth/login.go",
		Args:    term.Exactly(1, "a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := blame(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(b)
			}
			b.print(a, live)
			return nil
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "only the lines that somebody is changing")
	completesArgs(a, cmd, "paths")
	return cmd
}

func blame(ctx context.Context, a *app.Run, arg string) (b blamed, err error) {
	c, _, err := a.Client()
	if err != nil {
		return b, err
	}
	here, err := a.Here()
	if err != nil {
		return b, err
	}
	path, err := a.InRepo(here, arg)
	if err != nil {
		return b, err
	}
	b.text, err = plain.Read(filepath.Join(here.Root, filepath.FromSlash(path)), maxBlamed)
	if os.IsNotExist(err) {
		return b, term.Usagef("%s is no file", arg)
	}
	if err != nil {
		return b, err
	}
	f, err := c.Live(ctx, here.Fingerprint, path, gitrepo.BlobAtBase(ctx, here.Root, path))
	if err != nil {
		return b, err
	}
	b.Repo, b.Path, b.Left, b.contracts = f.Repo, f.Path, f.Left, f.Contracts
	repo := marks.Repo{Root: here.Root}
	b.Work, err = repo.In(b.text).Place(ctx, f)
	return b, err
}

// print shows the lines with who is at them, and below what has no line here.
func (b *blamed) print(a *app.Run, live bool) {
	lines := strings.Split(strings.TrimSuffix(string(b.text), "\n"), "\n")
	if len(b.Work) == 0 {
		fmt.Fprintf(a.Stdout, "Nobody is changing %s.\n", peertext.Path(b.Path))
		return
	}
	columns := []grid.Column{term.Col("WHO", 6, 0), term.Col("AGENT", 6, 3), term.Col("INTENT", 8, 2, 20), term.Col("AGE", 0, 1),
		term.Col("LINE"), term.Col("TEXT", 20, 0, 40)}
	var rows [][]string
	for i, text := range lines {
		row := []string{"", "", "", "", strconv.Itoa(i+1) + " ", a.Paint(term.Dim, printable(text))}
		mark, at, more := b.on(i+1, i+1 == len(lines))
		if mark != nil {
			st := colourOf(*mark)
			row = []string{a.Paint(st, marks.Person(mark.LiveWork)+more), marks.Agent(mark.LiveWork), marks.Work(mark.LiveWork),
				team.Age(a.Now(), marks.When(mark.LiveWork)), strconv.Itoa(i+1) + at, a.Paint(st, printable(text))}
		}
		if mark != nil || !live {
			rows = append(rows, row)
		}
	}
	a.List(rows, columns, "No line of "+peertext.Path(b.Path)+" is being changed.", false)
	b.printRest(a)
}

// printRest lists the work that stands at no line.
func (b *blamed) printRest(a *app.Run) {
	for _, m := range b.Work {
		whose := marks.Person(m.LiveWork)
		if m.Own {
			whose = "your agent"
		}
		who := a.Paint(colourOf(m), whose) + " (" + strings.Join(slices.DeleteFunc([]string{marks.Agent(m.LiveWork),
			marks.Work(m.LiveWork)}, func(s string) bool { return s == "" }), ", ") + ")"
		switch {
		case m.Status == "" && m.Claim != nil:
			fmt.Fprintf(a.Stdout, "%s has claimed %s (%s), %s\n", who, peertext.Path(m.Claim.Selector), m.Claim.Mode, a.Ago(m.Since))
		case m.Status == coord.FileDeleted:
			fmt.Fprintf(a.Stdout, "%s removes the file, %s\n", who, a.Ago(marks.When(m.LiveWork)))
		case !m.Placed:
			fmt.Fprintf(a.Stdout, "%s changes %s of a version that this clone does not have, %s; git fetch may bring it\n", who,
				term.Plural(len(m.Lines), "place"), a.Ago(marks.When(m.LiveWork)))
		}
	}
	if b.Left > 0 {
		fmt.Fprintf(a.Stdout, "And %d more.\n", b.Left)
	}
}

// on returns whose work stands on a line, how, and how many more do. The last
// line also shows what is inserted after it.
func (b *blamed) on(line int, last bool) (m *marks.Mark, how, more string) {
	n := 0
	for i, w := range b.Work {
		for _, l := range w.At {
			hit := ""
			switch {
			case l.Count > 0 && l.Start <= line && line < l.Start+l.Count:
				hit = "~"
			case l.Count == 0 && (l.Start == line || last && l.Start > line):
				hit = "+"
			}
			if hit == "" {
				continue
			}
			if m == nil {
				m, how = &b.Work[i], hit
			}
			n++
			break
		}
	}
	if n > 1 {
		more = fmt.Sprintf(" +%d", n-1)
	}
	return m, how, more
}

// colours tell people apart; the same person has the same colour everywhere.
var colours = []term.Style{"36", "35", "33", "32", "34", "31"}

func colourOf(m marks.Mark) term.Style {
	if m.Developer == nil {
		return term.Dim
	}
	sum := 0
	for _, r := range cmp.Or(m.Developer.Email, m.Developer.ID) {
		sum = sum*31 + int(r)
	}
	return colours[uint(sum)%uint(len(colours))]
}

// printable is a line of a file as a terminal may show it.
func printable(line string) string {
	return term.Whole(strings.ReplaceAll(string(bytes.ToValidUTF8([]byte(line), []byte("?"))), "\t", "    "))
}
