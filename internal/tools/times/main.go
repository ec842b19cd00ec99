// Times runs a command and says where its processor time went: what Go compiled,
// by package; what it linked; what C was compiled, by grammar and target; what
// was tested, by package, and the twenty dearest tests:
//
//	go run ./internal/tools/times -cold -- make build
//	go run ./internal/tools/times -- make test-go AGAIN=1
//
// With -cold it begins with an empty build cache, which it removes again; with
// -all it cuts no table. It puts itself in the place of go and of the C compilers
// for everything that the command starts, and changes nothing of what they do.
// Figures of one test are how long it took, since tests share a process: compare
// them on a quiet machine.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func main() {
	args := os.Args[1:]
	if len(args) > 3 && args[0] == standIn {
		code, err := stand(args[1], args[2], args[3:])
		exit(code, err)
	}
	cold := flag.Bool("cold", false, "begin with an empty build cache")
	all := flag.Bool("all", false, "cut no table")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: times [-cold] [-all] -- command [argument...]")
		os.Exit(2)
	}
	if flag.Parse(); flag.NArg() == 0 {
		flag.Usage()
	}
	most := mostLines
	if *all {
		most = math.MaxInt
	}
	code, err := run(flag.Args(), *cold, most)
	exit(code, err)
}

func exit(code int, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "times:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run runs a command with stand-ins and reports what they saw.
func run(args []string, cold bool, most int) (int, error) {
	dir, err := os.MkdirTemp("", "svc-times-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	env, err := standIns(dir)
	if err != nil {
		return 1, err
	}
	if cold {
		for _, name := range []string{"GOCACHE", "XDG_CACHE_HOME"} { // where grammars are kept, too
			env = append(env, name+"="+filepath.Join(dir, name))
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, env
	began := time.Now()
	code, err := ended(cmd.Run())
	if err != nil {
		return code, err
	}
	seen, err := read(dir)
	if err != nil {
		return 1, err
	}
	seen.wall, seen.all = time.Since(began), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	seen.write(os.Stdout, most)
	return code, nil
}

// ended splits what became of a command into its exit code and what else went
// wrong.
func ended(err error) (int, error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// compilers are the programs that turn C into something.
var compilers = []string{"cc", "gcc", "clang", "c++", "g++", "clang++", "ld.lld", "wasm-ld"}

// standIns puts this program in the place of others and returns the environment
// in which it is found there.
func standIns(dir string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return nil, err
	}
	path := bin + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, name := range append([]string{"go"}, compilers...) {
		real, err := exec.LookPath(name)
		if err != nil {
			continue // whoever needs it will say so
		}
		// By a script: whoever clears the environment is served, too.
		script := fmt.Sprintf("#!/bin/sh\nexec %q %s %q %s %q \"$@\"\n", self, standIn, dir, name, real)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.Setenv("PATH", path); err != nil { // where the command itself is looked for, too
		return nil, err
	}
	return os.Environ(), nil
}
