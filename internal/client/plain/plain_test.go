package plain

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	link, endless, loop := filepath.Join(dir, "link"), filepath.Join(dir, "endless"), filepath.Join(dir, "loop")
	for name, to := range map[string]string{link: file, endless: "/dev/zero", loop: loop} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		read func(string, int64) ([]byte, error)
		size int64
		want string
	}{
		{file, Read, 4, "text"}, {file, ReadHere, 4, "text"}, {file, Read, 3, ""}, {link, Read, 4, "text"}, {link, ReadHere, 4, ""},
		{endless, Read, 4, ""}, {loop, Read, 4, ""}, {dir, Read, 1 << 20, ""}, {filepath.Join(dir, "none"), Read, 4, ""},
	} {
		data, err := c.read(c.name, c.size)
		if string(data) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s up to %d: %q, %v", filepath.Base(c.name), c.size, data, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "none"), 4); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
