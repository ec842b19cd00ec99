package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/svc-hq/svc/internal/history"
	"github.com/svc-hq/svc/internal/tools/drill"
)

// single is a world of one server on SQLite in a folder.
func single(ctx context.Context, data string, o options) (*world, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	tokens, err := drill.People(ctx, filepath.Join(data, "svc.db"), 2)
	if err != nil {
		return nil, err
	}
	s, err := drill.NewServer(o.svcd, "svcd", "--data", data)
	if err != nil {
		return nil, err
	}
	if err := s.Start(); err != nil {
		return nil, err
	}
	w := &world{servers: []*drill.Server{s}}
	return w, w.settle(ctx, tokens, o.agents)
}

// killScene kills svcd on SQLite under load. Its control forgets one
// acknowledged write behind the service's back.
func killScene(ctx context.Context, dir string, o options) error {
	data := filepath.Join(dir, "data")
	w, err := single(ctx, data, o)
	if w != nil {
		defer w.servers[0].Kill()
	}
	if err != nil {
		return err
	}
	if err := second(ctx, data, o); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	work := w.agents(working, o.agents)
	for range o.kills {
		time.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
		w.servers[0].Kill()
		if err := w.servers[0].Start(); err != nil {
			return err
		}
	}
	stop()
	work.Wait()
	if o.control {
		w.book.Acknowledged(history.Intent, "that was never sent")
	}
	return w.check(ctx, fmt.Sprintf("%d kills of svcd on SQLite", o.kills))
}

// second starts another svcd on the same file, which must be refused.
func second(ctx context.Context, data string, o options) error {
	addr, err := drill.FreeAddr()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, o.svcd, "serve", "--addr", addr, "--data", data).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return fmt.Errorf("a second svcd on one SQLite file was not refused: %s", out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	fmt.Printf("  a second svcd on one file: %s\n", lines[len(lines)-1])
	return nil
}

// smallDisk mounts a disk of some megabytes.
func smallDisk(dir string, megabytes int) (unmount func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=0755", megabytes), "svc-chaos", dir).Run(); err != nil {
		return nil, fmt.Errorf("a small disk could not be mounted, which takes root: %w", err)
	}
	return func() { exec.Command("umount", "-l", dir).Run() }, nil
}

// fill takes up what is left of a disk.
func fill(dir string) (free func(), err error) {
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4 << 10} {
		for block := make([]byte, size); err == nil; {
			_, err = f.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return nil, err
		}
		err = nil
	}
	return func() { os.Remove(name) }, nil
}

// fullScene fills the disk under svcd on SQLite, again and again: it must say
// that it is not ready, answer 503 and never 500, keep what it acknowledged,
// and go on by itself when there is room. Its control forgets one write.
func fullScene(ctx context.Context, dir string, o options) error {
	disk := filepath.Join(dir, "disk")
	unmount, err := smallDisk(disk, 256) // the agents must not fill it themselves in the half minute for which a fault counts
	if err != nil {
		return err
	}
	defer unmount()
	w, err := single(ctx, filepath.Join(disk, "data"), o)
	if w != nil {
		defer w.servers[0].Kill()
	}
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	work := w.agents(working, o.agents)
	const times = 5
	for range times {
		time.Sleep(500 * time.Millisecond)
		free, err := fill(disk)
		if err != nil {
			return err
		}
		err = w.notReady(time.Minute) // as long as there is room in the log, it is ready
		free()
		if err != nil {
			return err
		}
		if err := w.servers[0].AwaitReady(time.Minute); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
	}
	stop()
	work.Wait()
	if o.control {
		w.book.Acknowledged(history.Intent, "that was never sent")
	}
	if w.book.Tally().Refused[503] == 0 {
		return errors.New("no write was refused while the disk was full: this shows nothing")
	}
	return w.check(ctx, fmt.Sprintf("%d times a full disk under svcd on SQLite", times))
}

// notReady waits until the server says that it is not ready.
func (w *world) notReady(most time.Duration) error {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !w.servers[0].Ready() {
			return nil
		}
	}
	return fmt.Errorf("/readyz said ready for %s with a full disk", most)
}
