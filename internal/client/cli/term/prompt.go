package term

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// Ask puts a question to the person at the terminal and returns the line they
// typed. Ctrl-C, or the end of the input before anything was typed, ends the
// command: nothing may have been written before the last question.
func (a *Screen) Ask(ctx context.Context, question string) (string, error) {
	if a.typed == nil {
		a.typed = bufio.NewReader(a.Stdin)
	}
	fmt.Fprint(a.Stderr, question)
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() { // a read cannot be interrupted; the process ends before it does
		line, err := a.typed.ReadString('\n')
		got <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.Stderr)
		return "", ErrCancelled
	case g := <-got:
		if ctx.Err() != nil || g.err == io.EOF && g.line == "" {
			fmt.Fprintln(a.Stderr)
			return "", ErrCancelled
		}
		if g.err != nil && g.err != io.EOF {
			return "", g.err
		}
		return strings.TrimSpace(g.line), nil
	}
}

// Confirm asks a yes-or-no question; only yes is yes.
func (a *Screen) Confirm(ctx context.Context, question string) (bool, error) {
	line, err := a.Ask(ctx, question+" [y/N] ")
	answer := strings.ToLower(line)
	return answer == "y" || answer == "yes", err
}
