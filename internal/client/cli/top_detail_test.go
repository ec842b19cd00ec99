//go:build unix

package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

// Space shows all that is known of a row: what is wrong and where, what both
// sides work on, what their agents said last, and what people said about it.
func TestTopShowsARowInFull(t *testing.T) {
	x := startTube(t, 120, 40, newCrowd(t, 4).URL, nil, "top")
	x.sees("▸ AGENTS 4: 1 blocked, 1 collides, 1 waits, 1 working")
	x.types(" ")
	for _, want := range []string{
		"works on   INT-2 Task 2: make it round",
		"why        Both change lines 10 to 24; git will not merge the two.",
		"holder     Alice Ash, INT-1 Task 1: make it round, lines 10-24 of internal/billing/invoice/render_html.go",
		"“Tests pass; the invoice now rounds per line.”",
		"challenger Bob Birch, INT-2 Task 2: make it round",
		"thread     Bob Birch, 3d: I take the lower half",
	} {
		x.sees(want)
	}
	x.types("j") // the pane follows the mark
	x.sees("works on   INT-1 Task 1: make it round")
	x.types("\t")
	x.sees("▸ CONFLICTS 1")
	x.sees("CF-1       block, same lines, open, in acme/shop")
	x.types("\x1b")
	await.True(t, "the pane to be gone", func() bool { return !strings.Contains(x.text(), "challenger") })
	x.types("?")
	x.sees("space           its details")
	x.types("q")
	x.sees("▸ CONFLICTS 1")
	x.types("q")
	x.ends(term.ExitOK)
}

func TestTopGroupsByRepository(t *testing.T) {
	x := startTube(t, 120, 40, newCrowd(t, 12).URL, nil, "top")
	x.sees("▸ AGENTS 12")
	x.types("b")
	x.sees("acme/shop (4)")
	x.sees("acme/web (4)")
	x.sees("acme/payments-service (4)")
	x.types("/payments")
	x.sees("AGENTS 4")
	x.types("\r")
	x.sees("space details")
	x.types("\x1b")
	x.sees("AGENTS 12")
	x.types("q")
	x.ends(term.ExitOK)
}

// click presses the left button on the line that shows a text.
func (x *tube) click(text string) {
	x.t.Helper()
	for y, line := range strings.Split(x.text(), "\n") {
		if strings.Contains(line, text) {
			x.types(fmt.Sprintf("\x1b[<0;5;%dM\x1b[<0;5;%dm", y+1, y+1))
			return
		}
	}
	x.t.Fatalf("no line shows %q:\n%s", text, x.text())
}

func TestTopTakesTheMouse(t *testing.T) {
	x := startTube(t, 100, 40, newCrowd(t, 4).URL, nil, "top")
	x.sees("> blocked")
	x.click("Carla Cedar")
	x.sees("> working   Carla")
	x.click("Carla Cedar")
	x.sees("works on   INT-3 Task 3: make it round")
	x.types("\x1b[<64;5;9M") // the wheel, up, on the agents
	x.sees("works on   INT-4")
	x.click("CF-1  block")
	x.sees("▸ CONFLICTS 1")
	x.types("q")
	x.ends(term.ExitOK)
}
