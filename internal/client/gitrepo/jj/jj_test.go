package jj_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/svc-hq/svc/internal/client/gitrepo/jj"
	"github.com/svc-hq/svc/internal/gittest"
)

var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Whatever stands in a record, it is read or refused: a repository may come
// from anybody.
func FuzzView(f *testing.F) {
	real := filepath.Join(gittest.Jujutsu(f), "plain", jj.Folder)
	for _, record := range []string{"repo/op_store/views/*", "repo/op_store/operations/*", "working_copy/checkout"} {
		files, _ := filepath.Glob(filepath.Join(real, filepath.FromSlash(record)))
		if len(files) == 0 {
			f.Fatalf("the recording has no %s", record)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	root := f.TempDir()
	for name, text := range map[string]string{
		"repo/store/type": "git", "repo/store/git_target": "git", "repo/store/git/HEAD": "ref: refs/heads/main\n",
		"working_copy/checkout":       "\x12\x01a\x1a\x07default", // operation a, the workspace default
		"repo/op_store/operations/61": "\x0a\x01b",                // the view b
	} {
		gittest.Write(f, filepath.Join(root, jj.Folder), name, text)
	}
	w, ok := jj.At(root)
	if !ok {
		f.Fatal("no workspace was found")
	}
	f.Fuzz(func(t *testing.T, view []byte) {
		gittest.Write(t, filepath.Join(root, jj.Folder), "repo/op_store/views/62", string(view))
		v, err := w.View()
		if err == nil && !commitID.MatchString(v.Commit) {
			t.Errorf("it works on %q", v.Commit)
		}
		for id := range v.Bookmarks {
			if !commitID.MatchString(id) {
				t.Errorf("a bookmark stands at %q", id)
			}
		}
	})
}
