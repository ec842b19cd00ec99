//go:build cgo && !lean && !apart && unix

package grammar

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/childtest"
)

// The words of the program's protocol, as main.c has them.
const (
	askLanguage, askOld, askNew, askEdited, askEdit, askMicros, askWords = 0, 1, 2, 3, 4, 13, 14
	sayResult, sayBefore, sayAfter, sayWords                             = 0, 1, 2, 3
)

// program builds the grammars as the installed svc starts them.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parser")
	if out, err := exec.Command("../../../.ci/build-parser", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// request is one question as bytes.
func request(in [askWords]uint32, texts ...[]byte) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.NativeEndian, in[:])
	for _, text := range texts {
		b.Write(text)
	}
	return b.Bytes()
}

// parsing asks for a text and what an edit made of it.
func parsing(lang int, old, new []byte) []byte {
	d := difference(old, new)
	in := [askWords]uint32{askLanguage: uint32(lang), askOld: uint32(len(old)), askNew: uint32(len(new)), askEdited: 1,
		askMicros: uint32(time.Minute.Microseconds())}
	for i, p := range []int{d.start.offset, d.old.offset, d.new.offset, d.start.row, d.start.column, d.old.row, d.old.column,
		d.new.row, d.new.column} {
		in[askEdit+i] = uint32(p)
	}
	return request(in, old, new)
}

// answer reads an answer: the trees.
func answer(r io.Reader) (result int32, before, after []Node, err error) {
	var out [sayWords]uint32
	if err = binary.Read(r, binary.NativeEndian, out[:]); err != nil {
		return
	}
	before, after = make([]Node, out[sayBefore]), make([]Node, out[sayAfter])
	err = errors.Join(binary.Read(r, binary.NativeEndian, before), binary.Read(r, binary.NativeEndian, after))
	return int32(out[sayResult]), before, after, err
}

var update = flag.Bool("update", false, "write the tables of names anew")

// The names that are kept for a svc without C are those of the grammars.
func TestTheTables(t *testing.T) {
	for n, lang := range names {
		for i, end := range []string{".kinds", ".fields"} {
			want, err := list(n, i == 1)
			if err != nil {
				t.Fatal(err)
			}
			file, text := filepath.Join("tables", lang+end), strings.Join(want, "\n")+"\n"
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if kept, err := os.ReadFile(file); err != nil || string(kept) != text {
				t.Errorf("%s is not what the grammar says (%v); go test ./internal/client/grammar -run Tables -update writes it", file, err)
			}
		}
	}
}

func TestTheProgram(t *testing.T) {
	if testing.Short() {
		return // make test reads every fixture with both
	}
	path := program(t)
	t.Run("parses as the linked grammars", func(t *testing.T) { parsesAlike(t, path) })
	t.Run("requests that make no sense", func(t *testing.T) { outlastsNonsense(t, path) })
}

// parsesAlike holds the program to what the grammars that are linked into this
// test say of every fixture, and of an edit of it.
func parsesAlike(t *testing.T, path string) {
	cmd := exec.CommandContext(t.Context(), path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ask := func(what string, request []byte) (int32, []Node, []Node) {
		t.Helper()
		if _, err := in.Write(request); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		result, before, after, err := answer(out)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return result, before, after
	}
	for n, lang := range names {
		texts := fixtures(t, lang)
		for name, text := range texts {
			edited := append(append(append([]byte{}, text[:len(text)/2]...), "\nx (\n"...), text[len(text)/2:]...)
			d := difference(text, edited)
			before, after, err := parse(n, text, edited, &d, time.Minute)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			result, b, a := ask(name, parsing(n, text, edited))
			if result != 0 || len(a) == 0 || !slices.Equal(before, b) || !slices.Equal(after, a) {
				t.Errorf("%s in %s: result %d, %d and %d nodes, want %d and %d", name, lang, result, len(b), len(a), len(before), len(after))
			}
		}
		if len(texts) < 2 {
			t.Errorf("%s has %d fixtures", lang, len(texts))
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("at the end of its input: %v", err)
	}
}

// fixtures are the texts by which a language is tested: the sample here, and
// the files of analysis, where a file of another language is as good.
func fixtures(t *testing.T, lang string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, s := range samples {
		if s.lang == lang {
			out["sample"] = []byte(s.source)
		}
	}
	dir := map[string]string{"javascript": "typescript", "tsx": "typescript"}[lang]
	if dir == "" {
		dir = lang
	}
	files, err := filepath.Glob("../analysis/testdata/" + dir + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if len(f.Data) > 0 {
				out[filepath.Base(file)+"/"+f.Name] = f.Data
			}
		}
	}
	return out
}

// outlastsNonsense: whatever it is sent, the program answers or ends. It does
// not crash, wait for what it could never hold, or take the memory for it.
func outlastsNonsense(t *testing.T, path string) {
	good := parsing(3, []byte("package p\n"), []byte("package q\n"))
	huge := [askWords]uint32{askLanguage: 3, askOld: math.MaxUint32, askNew: math.MaxUint32}
	wild := [askWords]uint32{askLanguage: 3, askOld: 10, askNew: 10, askEdited: 1, askMicros: 1e6}
	for i := range 9 {
		wild[askEdit+i] = math.MaxUint32 - uint32(i)
	}
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(i * 7)
	}
	for name, tt := range map[string]struct {
		input []byte
		code  int
	}{
		"nothing":           {nil, 0},
		"half a header":     {good[:20], 0},
		"half a text":       {good[:len(good)-3], 1},
		"one and a half":    {append(append([]byte{}, good...), good[:30]...), 0},
		"huge lengths":      {request(huge, []byte("package p")), 1},
		"an edit elsewhere": {request(wild, []byte("package p\npackage q\n")), 0},
		"no such language":  {request([askWords]uint32{askLanguage: 99, askOld: 1, askNew: 1}, []byte("ab")), 0},
		"noise":             {noise, 1}, // of lengths beyond all measure
		"text of zeros":     {request([askWords]uint32{askLanguage: 8, askOld: 4000}, make([]byte, 4000)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, path)
			cmd.Stdin, cmd.Stdout = bytes.NewReader(tt.input), io.Discard
			used, err := childtest.Run(t, cmd)
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("it ended with %d (%v), want %d", code, err, tt.code)
			}
			if used > 200<<10 {
				t.Errorf("it took %d KB", used)
			}
		})
	}
}
