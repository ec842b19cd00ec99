package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A made is a head that no repository has: a change of the mainline, A, as it
// would have been had it not known another, B. "on" puts A's change on B's
// parent, "without" takes B's out of A. Where the two met in one place, B's
// lines and what A did to them are left out.
type made struct {
	git        string // the mirror
	head, a, b string
	without    bool
}

// readMade reads the lines "# made" of a sample.
func readMade(text, folder string) ([]made, error) {
	var out []made
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "# made\t")
		if !ok {
			continue
		}
		c := strings.Split(rest, "\t")
		if len(c) != 5 || c[3] != "on" && c[3] != "without" {
			return nil, fmt.Errorf("%q does not say how a head is made", line)
		}
		out = append(out, made{filepath.Join(folder, c[0]+".git"), c[1], c[2], c[4], c[3] == "without"})
	}
	return out, nil
}

// makeHeads makes the heads of a sample that the mirrors lack.
func makeHeads(ctx context.Context, folder, text string) error {
	all, err := readMade(text, folder)
	if err != nil {
		return err
	}
	for i := range all {
		m := &all[i]
		if _, err := m.run(ctx, nil, "", "cat-file", "-e", m.head); err == nil {
			continue
		}
		got, err := m.make(ctx)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", m.head, m.git, err)
		}
		if got != m.head {
			return fmt.Errorf("%s of %s came out as %s", m.head, m.git, got)
		}
	}
	return nil
}

// run runs git on the mirror.
func (m *made) run(ctx context.Context, env []string, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir", m.git}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, said.String())
	}
	return out.String(), nil
}

// make writes the commit, whose name says of what it is made.
func (m *made) make(ctx context.Context) (string, error) {
	base, err := m.run(ctx, nil, "", "rev-parse", m.b+"^1")
	if err != nil {
		return "", err
	}
	base = strings.TrimSpace(base)
	at, change, message := base, m.a, m.a+" on "+base
	if m.without {
		at, change, message = m.a, m.b, m.a+" without "+m.b
	}
	entries, err := m.entries(ctx, at, change)
	if err != nil {
		return "", err
	}
	date, err := m.run(ctx, nil, "", "log", "-1", "--format=%ct +0000", m.a)
	if err != nil {
		return "", err
	}
	index, err := os.MkdirTemp("", "proof")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(index)
	date = strings.TrimSpace(date)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(index, "index"), "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+who+"_NAME=sample", "GIT_"+who+"_EMAIL=sample@example.com")
	}
	tree := ""
	for _, step := range []struct {
		in   string
		args []string
	}{{"", []string{"read-tree", at}}, {entries, []string{"update-index", "-z", "--index-info"}}, {"", []string{"write-tree"}}} {
		if tree, err = m.run(ctx, env, step.in, step.args...); err != nil {
			return "", err
		}
	}
	head, err := m.run(ctx, env, "", "commit-tree", strings.TrimSpace(tree), "-p", base, "-m", message)
	return strings.TrimSpace(head), err
}

// entries are the files of a change, as git's index wants them, once the change
// is put on a tree or taken out of it.
func (m *made) entries(ctx context.Context, at, change string) (string, error) {
	diff, err := m.run(ctx, nil, "", "diff-tree", "-r", "-z", "--no-renames", change+"^1", change)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fields := strings.Split(strings.TrimRight(diff, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		c := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		file := fileChange{path: fields[i+1], modes: [2]string{c[0], c[1]}, blobs: [2]string{c[2], c[3]}, status: c[4]}
		entry, err := m.entry(ctx, at, file)
		if err != nil {
			return "", err
		}
		out.WriteString(entry)
	}
	return out.String(), nil
}

// A fileChange is one file of a change, before and after it.
type fileChange struct {
	path         string
	modes, blobs [2]string
	status       string
}

const nothing = "0000000000000000000000000000000000000000"

// entry is one file once its change is put on a tree or taken out of it.
func (m *made) entry(ctx context.Context, at string, f fileChange) (string, error) {
	line := func(mode, blob string) string { return mode + " " + blob + "\t" + f.path + "\x00" }
	have, mode := "", ""
	if text, err := m.run(ctx, nil, "", "ls-tree", "-z", at, "--", f.path); err != nil {
		return "", err
	} else if c := strings.Fields(text); len(c) > 2 {
		mode, have = c[0], c[2]
	}
	from, to := 0, 1
	if m.without {
		from, to = 1, 0
	}
	switch gone := f.status == "A" && m.without || f.status == "D" && !m.without; {
	case gone && have == "":
		return "", nil
	case gone:
		return line("0", nothing), nil
	case f.status != "M":
		return line(f.modes[to], f.blobs[to]), nil
	case have == "":
		return "", nil
	case have == f.blobs[from]:
		return line(f.modes[to], f.blobs[to]), nil
	}
	blob, err := m.merge(ctx, have, f.blobs[from], f.blobs[to])
	if m.without {
		return line(mode, blob), err
	}
	return line(f.modes[to], blob), err
}

// merge puts the step from one blob to another on a third. Where that has
// other lines, what lacks B's wins: that is the third, or what is stepped to.
func (m *made) merge(ctx context.Context, have, from, to string) (string, error) {
	dir, err := os.MkdirTemp("", "proof")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var names []string
	for i, blob := range []string{have, from, to} {
		text, err := m.run(ctx, nil, "", "cat-file", "blob", blob)
		if err != nil {
			return "", err
		}
		names = append(names, filepath.Join(dir, fmt.Sprint(i)))
		if err := os.WriteFile(names[i], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	side := "--ours"
	if m.without {
		side = "--theirs"
	}
	text, err := m.run(ctx, nil, "", append([]string{"merge-file", "-p", side}, names...)...)
	if err != nil {
		return "", err
	}
	blob, err := m.run(ctx, nil, text, "hash-object", "-w", "--stdin")
	return strings.TrimSpace(blob), err
}
