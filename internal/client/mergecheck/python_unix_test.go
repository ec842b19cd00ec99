//go:build unix

package mergecheck_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A repository that is set up for mypy is looked at by pyright where that is
// all there is, and by mypy alone where it is there.
func TestPyrightStandsInForMypy(t *testing.T) {
	tools := t.TempDir()
	for _, name := range []string{"git", "sh", "grep"} {
		real, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(real, filepath.Join(tools, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", tools)
	const where = "[ -f two.py ] && ! grep -q 'def total' one.py && "
	script(t, filepath.Join(tools, "pyright"), where+`{ echo "$PWD/two.py:1:17 - error: pyright says so"; exit 1; }
exit 0`)
	look := func() *pair {
		p := newPair(t, files{"setup.cfg": "[mypy]\n", "one.py": "def total() -> int: ...\n"}, files{"one.py": "def sum_up() -> int: ...\n"},
			files{"two.py": "from one import total\n"})
		p.trusted = true
		return p
	}
	tells(t, look().check(), "two.py:1: error: pyright says so")
	script(t, filepath.Join(tools, "mypy"), where+`{ echo "two.py:1: error: mypy says so"; exit 1; }
exit 0`)
	tells(t, look().check(), "two.py:1: error: mypy says so")
}
