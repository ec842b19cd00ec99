package mergecheck

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	javaFault   = regexp.MustCompile(`^(\S.*?\.java):(\d+): (error: .*)$`)
	javaMore    = regexp.MustCompile(`^\s+(symbol|location|required|found|reason): +(.*)$`)
	javaPackage = regexp.MustCompile(`(?m)^\s*package\s+([\w.]+)\s*;`)
)

// javac has Java's compiler look at the changed files, without what processes
// annotations: that is code of the repository. Packages that a build would fetch
// are unknown to it; what comes of that is wrong with each side alone, too.
func javac(ctx context.Context, c *Check, w work) (outcome, error) {
	program := c.program("javac")
	files := present(w.dir, w.files)
	if program == "" || len(files) == 0 {
		return outcome{none: true}, nil
	}
	made := filepath.Join(c.Dir, "classes") // nothing is made, but if it were
	if err := os.MkdirAll(made, 0o700); err != nil {
		return outcome{}, err
	}
	args := []string{"-J-Xmx1g", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-proc:none", "-implicit:none", "-nowarn", "-Xlint:none",
		"-Xmaxerrs", "10000", "-encoding", "UTF-8", "-XDshould-stop.ifError=FLOW", "-XDshould-stop.ifNoError=FLOW", "-d", made,
		"-classpath", made, "-sourcepath", strings.Join(sourceRoots(w.dir, files), string(os.PathListSeparator))}
	for _, f := range files {
		args = append(args, "./"+f) // whatever it begins with
	}
	a, err := c.run(ctx, program, call{dir: w.dir, args: args})
	return a.outcome(javaFaults(a.out, w.dir)), err
}

// javaFaults reads what javac says: a line, and below the code what it is about.
func javaFaults(out, dir string) (faults []Fault) {
	for l := range strings.Lines(out) {
		l = strings.TrimRight(l, "\r\n")
		if m := javaFault.FindStringSubmatch(l); m != nil {
			if f, ok := faultAt(dir, ".", m[1], m[2], m[3]); ok {
				faults = append(faults, f)
			}
		} else if m := javaMore.FindStringSubmatch(l); m != nil && len(faults) > 0 {
			last := &faults[len(faults)-1]
			last.Text += ", " + m[1] + " " + strings.TrimSpace(m[2])
		}
	}
	return faults
}

// sourceRoots are the folders that packages begin in: those of the files, and
// where Maven and Gradle have them.
func sourceRoots(dir string, files []string) (out []string) {
	add := func(root string) {
		if at := filepath.Join(dir, filepath.FromSlash(root)); !slices.Contains(out, at) && len(out) < maxPackages && there(dir, root) {
			out = append(out, at)
		}
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f)))
		if err != nil {
			continue
		}
		root := path.Dir(f)
		if m := javaPackage.FindSubmatch(data); m != nil {
			root = strings.TrimSuffix("/"+root, "/"+strings.ReplaceAll(string(m[1]), ".", "/"))
			root = path.Clean(strings.TrimPrefix(root, "/"))
		}
		add(root)
		if strings.HasSuffix(root, "src/test/java") {
			add(strings.TrimSuffix(root, "test/java") + "main/java")
		}
	}
	const deep = 6
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil || !e.IsDir():
			return nil
		case strings.HasSuffix("/"+rel, "/src/main/java"):
			add(rel)
			return fs.SkipDir
		case strings.Count(rel, "/") >= deep || strings.HasPrefix(e.Name(), ".") && rel != "." || e.Name() == "node_modules":
			return fs.SkipDir
		}
		return nil
	})
	return out
}
