package mergecheck

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var ccFault = regexp.MustCompile(`^(\S.*?):(\d+):(?:\d+:)? ((?:fatal )?error: .*)$`)

const (
	// maxUnits is how many files are compiled: each brings its headers along.
	maxUnits = 12
	// maxDatabase is how large a list of compile commands may be.
	maxDatabase = 64 << 20
)

// cc has a compiler look at C, which takes no code of the repository: only the
// flags are taken that say where headers are and which language it is.
func cc(ctx context.Context, c *Check, w work) (outcome, error) {
	return c.compile(ctx, w, []string{".c"}, []string{"gcc", "clang", "cc"}, []string{undeclared})
}

// undeclared has a call of what is not declared told as an error, as compilers
// of today do. With -w older ones would not tell it at all.
const undeclared = "-Werror=implicit-function-declaration"

// cplusplus is cc for C++.
func cplusplus(ctx context.Context, c *Check, w work) (outcome, error) {
	return c.compile(ctx, w, []string{".cc", ".cpp", ".cxx"}, []string{"g++", "clang++", "c++"}, []string{"-w"}, "-std=gnu++20")
}

// compile has a compiler look at the files concerned, always with some flags,
// and with others where nobody says how it is called.
func (c *Check) compile(ctx context.Context, w work, endings, programs, always []string, flags ...string) (outcome, error) {
	all := outcome{none: true}
	program := ""
	for _, name := range programs {
		if program = c.program(name); program != "" {
			break
		}
	}
	units := w.units(endings)
	if program == "" || len(units) == 0 {
		return all, nil
	}
	known := c.compileFlags(w.dir)
	for _, unit := range units {
		more := known[unit]
		if more == nil {
			more = append(slices.Clone(flags), "-I.", "-Iinclude", "-Isrc", "-I./"+path.Dir(unit))
		}
		args := slices.Concat([]string{"-fsyntax-only", "-fno-diagnostics-color"}, always, more)
		a, err := c.run(ctx, program, call{dir: w.dir, args: append(args, "./"+unit)})
		if err != nil {
			return outcome{}, err
		}
		all.add(a.outcome(faultsIn(a.out, w.dir, ".", ccFault)))
	}
	return all, nil
}

// units are the files to compile: those that changed, and beside changed
// headers those that include them.
func (w work) units(endings []string) (out []string) {
	for _, f := range present(w.dir, w.files) {
		if slices.Contains(endings, path.Ext(f)) && len(out) < maxUnits {
			out = append(out, f)
		}
	}
	for _, f := range w.files {
		if slices.Contains(endings, path.Ext(f)) {
			continue
		}
		list, _ := os.ReadDir(filepath.Join(w.dir, filepath.FromSlash(path.Dir(f))))
		for _, e := range list {
			unit := path.Join(path.Dir(f), e.Name())
			if len(out) == maxUnits {
				return out
			}
			if !slices.Contains(endings, path.Ext(unit)) || slices.Contains(out, unit) {
				continue
			}
			if data, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(unit))); err == nil && bytes.Contains(data, []byte(path.Base(f))) {
				out = append(out, unit)
			}
		}
	}
	return out
}

// compileFlags reads how the person's own build compiles files, by their paths,
// from the list that CMake, Meson and others write.
func (c *Check) compileFlags(dir string) map[string][]string {
	out := map[string][]string{}
	for _, place := range []string{"", "build", "out", "builddir", "cmake-build-debug", "cmake-build-release"} {
		name := filepath.Join(c.Repo.Root, place, "compile_commands.json")
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxDatabase {
			continue
		}
		data, err := os.ReadFile(name)
		var list []struct {
			Directory, File, Command string
			Arguments                []string
		}
		if err != nil || json.Unmarshal(data, &list) != nil {
			continue
		}
		for _, e := range list {
			words := e.Arguments
			if len(words) == 0 {
				words = shellWords(e.Command)
			}
			file := e.File
			if !filepath.IsAbs(file) {
				file = filepath.Join(e.Directory, file)
			}
			if rel, err := filepath.Rel(c.Repo.Root, file); err == nil && within(c.Repo.Root, file) {
				out[filepath.ToSlash(rel)] = c.harmless(dir, e.Directory, words)
			}
		}
		break
	}
	return out
}

var (
	placeFlag  = regexp.MustCompile(`^(-I|-isystem|-iquote|-idirafter)(.*)$`)
	simpleFlag = regexp.MustCompile(`^(?:-[DU].+|-std=[\w+:-]+|-m(?:32|64)|-pthread|` +
		`-f(?:no-)?(?:exceptions|rtti|char8_t|signed-char|unsigned-char|coroutines|concepts))$`)
)

// harmless are those of a command's flags that can start nothing: places of
// headers, definitions and the language. What is in the working copy is looked
// for in the tree; what only a build makes stays where it is.
func (c *Check) harmless(dir, from string, words []string) []string {
	out := []string{}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if (word == "-D" || word == "-U") && i+1 < len(words) {
			i++
			word += words[i]
		}
		if m := placeFlag.FindStringSubmatch(word); m != nil {
			where := m[2]
			if where == "" && i+1 < len(words) {
				i++
				where = words[i]
			}
			if !filepath.IsAbs(where) {
				where = filepath.Join(from, where)
			}
			if rel, err := filepath.Rel(c.Repo.Root, where); err == nil && within(c.Repo.Root, where) && there(dir, filepath.ToSlash(rel)) {
				where = filepath.Join(dir, rel)
			}
			out = append(out, m[1]+where)
		} else if simpleFlag.MatchString(word) {
			out = append(out, word)
		}
	}
	return out
}

// shellWords splits a command as a shell would, without doing anything else
// that one does.
func shellWords(s string) (out []string) {
	var word strings.Builder
	open, quote := false, rune(0)
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if open || word.Len() > 0 {
				out = append(out, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
		}
	}
	if open || word.Len() > 0 {
		out = append(out, word.String())
	}
	return out
}
