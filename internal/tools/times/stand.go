package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// How a stand-in knows what it is.
const (
	standIn        = "stand-in"     // the first argument: then come the folder for notes, a name and the program of that name
	testBinary     = "test-binary"  // the name under which go test starts us with tests to run
	program        = "program"      // and go run with what it built
	insideVariable = "TIMES_INSIDE" // set for what go starts; svcd refuses variables of its own that it does not know
)

// A Note is what a stand-in saw.
type Note struct {
	C       string        // what was compiled, of C that go did not have compiled
	Target  string        // for which system
	Package string        // whose tests ran
	Test    string        // one of them
	Took    time.Duration // of a test: by the clock; else by the processor
}

// stand runs the program in whose place this one is, and notes what it cost.
func stand(dir, name string, args []string) (int, error) {
	switch name {
	case testBinary:
		return runTest(dir, args)
	case program:
		return ended(outside(dir, args).Run())
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, os.Environ()
	if name == "go" {
		return runGo(dir, cmd)
	}
	code, err := ended(cmd.Run())
	if err != nil || os.Getenv(insideVariable) != "" { // go says itself what it had compiled
		return code, err
	}
	what, target := sourceOf(args[1:])
	return code, note(dir, Note{C: what, Target: target, Took: used(cmd)})
}

func used(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// runGo runs go, has it tell what it compiled and, if it tests, what that cost.
func runGo(dir string, cmd *exec.Cmd) (int, error) {
	if len(cmd.Args) < 2 || !slices.Contains([]string{"build", "install", "run", "test", "list", "vet"}, cmd.Args[1]) {
		return ended(cmd.Run())
	}
	graph, err := os.CreateTemp(dir, "graph-*.json")
	if err != nil {
		return 1, err
	}
	graph.Close()
	cmd.Env = append(cmd.Env, insideVariable+"=1")
	more := []string{"-debug-actiongraph=" + graph.Name()}
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	as := func(name string) string { return "-exec=" + strings.Join([]string{self, standIn, dir, name}, " ") }
	tests := cmd.Args[1] == "test" && !slices.Contains(cmd.Args, "-c")
	switch {
	case tests:
		more = append(more, "-json", as(testBinary))
	case cmd.Args[1] == "run":
		more = append(more, as(program))
	}
	cmd.Args = slices.Insert(cmd.Args, 2, more...)
	if !tests {
		return ended(cmd.Run())
	}
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 1, err
	}
	if err := listen(dir, out, os.Stdout); err != nil {
		return 1, err
	}
	return ended(cmd.Wait())
}

// listen notes how long tests took, and prints what go test would have printed
// by itself: packages, and the output of tests that failed.
func listen(dir string, in io.Reader, out io.Writer) error {
	said := map[string][]string{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Action, Package, ImportPath, Test, Output string
			Elapsed                                   float64
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(out, lines.Text())
			continue
		}
		key := e.Package + " " + e.Test
		switch {
		case e.Action == "build-output":
			fmt.Fprint(out, e.Output)
		case e.Action == "output" && e.Test == "":
			if line := strings.TrimSpace(e.Output); line != "PASS" && !strings.HasPrefix(line, "=== ") {
				fmt.Fprint(out, e.Output)
			}
		case e.Action == "output":
			said[key] = append(said[key], e.Output)
		case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
			if e.Action == "fail" {
				fmt.Fprint(out, strings.Join(said[key], ""))
			}
			delete(said, key)
			if e.Test == "" {
				continue
			}
			if err := note(dir, Note{Package: e.Package, Test: e.Test, Took: time.Duration(e.Elapsed * float64(time.Second))}); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// runTest runs the tests of a package and notes what they cost, with all that
// they started and waited for.
func runTest(dir string, args []string) (int, error) {
	cmd := exec.Command(args[0], args[1:]...) // what it starts is its own: go is not looked for again
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	code, err := ended(cmd.Run())
	if err != nil {
		return code, err
	}
	here, err := os.Getwd() // go test starts a test in the folder of its package
	if err != nil {
		return 1, err
	}
	return code, note(dir, Note{Package: here, Took: used(cmd)})
}

// outside is a command that go starts but that is no part of its work. Go puts
// itself before us on the way to programs; it is put behind us again.
func outside(dir string, args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), insideVariable+"=", "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cmd
}

// sourceOf tells of a compiler's arguments what is compiled, and for what.
func sourceOf(args []string) (what, target string) {
	what, target = "(linking)", "this machine"
	for _, a := range args {
		if t, ok := strings.CutPrefix(a, "--target="); ok {
			target = t
		}
		if strings.HasPrefix(a, "-fsanitize=") {
			target = "sanitizer"
		}
		if e := filepath.Ext(a); e == ".c" || e == ".cc" || e == ".cpp" {
			what = grammarOf(a)
		}
	}
	return what, target
}

// grammarOf names a C file after the folder that says which grammar it is.
func grammarOf(file string) string {
	folder := filepath.Dir(file)
	if name := filepath.Base(folder); name != "." && name != "src" {
		return name
	}
	return filepath.Base(filepath.Dir(folder))
}

// note appends what was seen. Stand-ins run beside one another: each has a file
// of its own.
func note(dir string, n Note) error {
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("notes-%d", os.Getpid())), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return json.NewEncoder(f).Encode(n)
}
