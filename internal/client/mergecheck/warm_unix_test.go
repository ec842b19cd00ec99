//go:build unix

package mergecheck_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/mergecheck"
	"github.com/svc-hq/svc/internal/gittest"
)

// stayed are the compilers that run for checks in a folder.
func stayed(t testing.TB, dir string) (pids []int) {
	t.Helper()
	out, _ := exec.Command("ps", "-eo", "pid=,args=").Output()
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if strings.Contains(line, "--serve "+dir+"/") {
			pid, err := strconv.Atoi(words[0])
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

func warmPair(t *testing.T, one, two files) *pair {
	p := newPair(t, tsBase, one, two)
	p.trusted, p.warm = true, await.Patience
	installed("typescript", "web/node_modules")(t, p.root)
	t.Cleanup(func() { mergecheck.Cool(filepath.Dir(p.dir)) })
	return p
}

// more commits more on one side.
func (p *pair) more(side int, change files) {
	gittest.Run(p.t, p.root, "checkout", "-q", "side"+strconv.Itoa(side))
	p.commit(change)
	p.heads[side] = gittest.Run(p.t, p.root, "rev-parse", "HEAD")
	p.changed[side] = strings.Fields(gittest.Run(p.t, p.root, "diff", "--name-only", "main", "HEAD"))
}

// A compiler that stayed says what one that begins anew says, whatever came and
// went meanwhile: files, and what their imports lead to.
func TestACompilerThatStays(t *testing.T) {
	if !here("tsc") {
		return
	}
	p := warmPair(t, tsOne, tsTwo)
	tells(t, p.check(), tsWant...)
	first := stayed(t, p.dir)
	if len(first) != 1 {
		t.Fatalf("%d compilers stayed", len(first))
	}

	both := files{"src/shop.ts": "export interface Shop { sum: number; total: number }\nexport const shop: Shop = { sum: 1, total: 1 }\n"}
	p.more(0, both)
	tells(t, p.check())
	p.more(0, files{"src/shop.ts": ""})
	tells(t, p.check(), "src/app.ts:1: error TS2307: Cannot find module './shop'")
	p.more(0, files{"src/shop.d.ts": "export declare const shop: { total: string }\n"})
	tells(t, p.check(), "src/app.ts:2: error TS2322: Type 'string' is not assignable to type 'number'.")
	p.more(0, with(both, files{"src/shop.d.ts": ""}))
	tells(t, p.check())
	p.more(0, files{"src/shop/index.ts": "export const shop = { total: 1 }\n"}) // the file comes before the folder
	tells(t, p.check())
	p.more(0, files{"src/shop.ts": ""})
	tells(t, p.check())
	p.more(0, files{"tsconfig.json": `{"compilerOptions": {"strict": true, "types": [], "noUnusedLocals": true}, "include": ["src"]}`})
	p.more(1, files{"src/app.ts": tsTwo["src/app.ts"] + "const unused = 1\n"})
	tells(t, p.check(), "src/app.ts:3: error TS6133: 'unused' is declared but its value is never read.")
	if now := stayed(t, p.dir); len(now) != 1 || now[0] != first[0] {
		t.Errorf("%v stayed first, %v in the end", first, now)
	}

	mergecheck.Cool(filepath.Dir(p.dir))
	await.True(t, "the compiler ends", func() bool { return len(stayed(t, p.dir)) == 0 })
	if err := os.RemoveAll(filepath.Join(p.dir, "answers")); err != nil {
		t.Fatal(err)
	}
	p.warm = 0
	tells(t, p.check(), "src/app.ts:3: error TS6133: 'unused' is declared but its value is never read.")
}

// A person has one compiler that stays. It ends with its folder, and with the
// check that waits for it.
func TestNoCompilerStaysForNothing(t *testing.T) {
	if !here("tsc") {
		return
	}
	p := warmPair(t, tsOne, tsTwo)
	tells(t, p.check(), tsWant...)
	other := newPair(t, tsBase, tsOne, tsTwo)
	other.trusted, other.warm, other.dir = true, await.Patience, filepath.Join(filepath.Dir(p.dir), "other")
	installed("typescript", "web/node_modules")(t, other.root)
	tells(t, other.check(), tsWant...)
	if len(stayed(t, p.dir)) != 0 || len(stayed(t, other.dir)) != 1 {
		t.Errorf("%v of the first clone, %v of the second stay", stayed(t, p.dir), stayed(t, other.dir))
	}

	// A compiler that is stopped at work: whoever asked it stops waiting.
	pid := stayed(t, other.dir)[0]
	if err := syscall.Kill(-pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	other.more(0, files{"src/shop.ts": "export const shop = { total: \"a\" }\n"})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		repo, _ := gitrepo.At(other.root)
		objects := t.TempDir()
		_, err := mergecheck.Run(gitrepo.WithObjects(ctx, objects), mergecheck.Check{Repo: repo, Objects: objects, Heads: other.heads,
			Changed: other.changed, Dir: other.dir, Trusted: true, Warm: await.Patience})
		ended <- err
	}()
	await.True(t, "the merged tree is there", func() bool {
		data, _ := os.ReadFile(filepath.Join(other.dir, "merged", "src", "shop.ts"))
		return strings.Contains(string(data), `"a"`)
	})
	cancel()
	if err := <-ended; err == nil {
		t.Error("the check went on")
	}
	if err := syscall.Kill(-pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	tells(t, other.check(), "src/app.ts:2: error TS2322: Type 'string' is not assignable to type 'number'.")

	if err := os.RemoveAll(other.dir); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the compiler ends", func() bool { return len(stayed(t, other.dir)) == 0 })
}
