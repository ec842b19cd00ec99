package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A session talks with a language server about the files of one folder.
type session struct {
	dir    string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	last   int
	opened map[string]bool
}

type position struct{ Line, Character int }

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// startSession starts a server and introduces itself.
func startSession(dir string, args []string) (*session, error) {
	s := &session{dir: dir, cmd: exec.Command(args[0], args[1:]...), opened: map[string]bool{}}
	s.cmd.Dir = dir
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	able := map[string]any{"textDocument": map[string]any{
		"documentSymbol": map[string]any{"hierarchicalDocumentSymbolSupport": true}, "rename": map[string]any{},
		"diagnostic": map[string]any{"dynamicRegistration": false}},
		"workspace": map[string]any{"workspaceEdit": map[string]any{"documentChanges": true},
			"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}}}
	_, err = s.call("initialize", map[string]any{"processId": os.Getpid(), "rootUri": s.uri("."), "capabilities": able,
		"workspaceFolders": []any{map[string]any{"uri": s.uri("."), "name": "tree"}}})
	if err != nil {
		s.close()
		return nil, err
	}
	return s, s.send(map[string]any{"jsonrpc": "2.0", "method": "initialized", "params": map[string]any{}})
}

func (s *session) close() {
	_ = s.in.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *session) uri(file string) string {
	return "file://" + filepath.ToSlash(filepath.Join(s.dir, file))
}

func (s *session) send(message map[string]any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(data), data)
	return err
}

// call asks, and answers what the server asks meanwhile with nothing.
func (s *session) call(method string, params any) (json.RawMessage, error) {
	s.last++
	id := s.last
	if err := s.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		m, err := s.read()
		if err != nil {
			return nil, err
		}
		switch {
		case m.Method != "" && m.ID != nil:
			var answer any
			if m.Method == "workspace/configuration" {
				answer = make([]any, strings.Count(string(m.Params), `"section"`))
			}
			if err := s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": answer}); err != nil {
				return nil, err
			}
		case m.Method == "" && string(m.ID) == strconv.Itoa(id):
			if m.Error != nil {
				return nil, errors.New(m.Error.Message)
			}
			return m.Result, nil
		}
	}
}

type message struct {
	ID             json.RawMessage `json:"id"`
	Method         string          `json:"method"`
	Params, Result json.RawMessage
	Error          *struct{ Message string } `json:"error"`
}

func (s *session) read() (m message, err error) {
	size := 0
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return m, err
		}
		line = strings.TrimSpace(line)
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			size, _ = strconv.Atoi(n)
		}
		if line == "" {
			break
		}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(s.out, data); err != nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

// open tells the server of a file.
func (s *session) open(file, language string) error {
	if s.opened[file] {
		return nil
	}
	s.opened[file] = true
	text, err := os.ReadFile(filepath.Join(s.dir, file))
	if err != nil {
		return err
	}
	return s.send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": map[string]any{
		"textDocument": map[string]any{"uri": s.uri(file), "languageId": language, "version": 1, "text": string(text)}}})
}

// faults are the words of a server about a file as it is now.
func (s *session) faults(file, language string) (out []string, err error) {
	delete(s.opened, file)
	if err := s.open(file, language); err != nil {
		return nil, err
	}
	doc := map[string]any{"textDocument": map[string]any{"uri": s.uri(file)}}
	data, err := s.call("textDocument/diagnostic", doc)
	if err != nil {
		return nil, err
	}
	var said struct {
		Items []struct {
			Severity int
			Message  string
		}
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, err
	}
	for _, i := range said.Items {
		if i.Severity == 1 {
			out = append(out, "error: "+strings.ReplaceAll(i.Message, "\n", " "))
		}
	}
	return out, s.send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/didClose", "params": doc})
}

// A symbol is a definition as servers tell it.
type symbol struct {
	Name           string
	Kind           int
	SelectionRange span `json:"selectionRange"`
	Range          span `json:"range"`
	Children       []symbol
	file           string
	in             int // kind of what it stands in
}

// symbols are the definitions of a file, those in others too, but not what is local.
func (s *session) symbols(file string) ([]symbol, error) {
	data, err := s.call("textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": s.uri(file)}})
	if err != nil {
		return nil, err
	}
	var all, out []symbol
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	var walk func([]symbol, int)
	walk = func(list []symbol, in int) {
		for _, sym := range list {
			if in == kindFunction || in == kindMethod {
				continue
			}
			walk(sym.Children, sym.Kind)
			sym.file, sym.in, sym.Children = file, in, nil
			out = append(out, sym)
		}
	}
	walk(all, 0)
	return out, nil
}

// What servers call things.
const (
	kindModule    = 2
	kindMethod    = 6
	kindInterface = 11
	kindFunction  = 12
)

// at is the parameter of a question about a place.
func (s *session) at(sym *symbol) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": s.uri(sym.file)},
		"position": map[string]any{"line": sym.SelectionRange.Start.Line, "character": sym.SelectionRange.Start.Character}}
}

// rename returns the edits that give a definition another name.
func (s *session) rename(sym *symbol, name string) ([]textEdit, error) {
	params := s.at(sym)
	params["newName"] = name
	data, err := s.call("textDocument/rename", params)
	if err != nil {
		return nil, err
	}
	type change struct {
		Range   span
		NewText string
	}
	var edit struct {
		Changes         map[string][]change
		DocumentChanges []struct {
			TextDocument struct{ URI string }
			Edits        []change
		}
	}
	if err := json.Unmarshal(data, &edit); err != nil {
		return nil, err
	}
	var out []textEdit
	add := func(uri string, all []change) {
		for _, c := range all {
			out = append(out, textEdit{s.file(uri), c.Range, c.NewText})
		}
	}
	for uri, all := range edit.Changes {
		add(uri, all)
	}
	for _, d := range edit.DocumentChanges {
		add(d.TextDocument.URI, d.Edits)
	}
	return out, nil
}

// mentions are the places that mean a definition, itself too.
func (s *session) mentions(sym *symbol) ([]textEdit, error) {
	params := s.at(sym)
	params["context"] = map[string]any{"includeDeclaration": true}
	data, err := s.call("textDocument/references", params)
	if err != nil {
		return nil, err
	}
	var places []struct {
		URI   string
		Range span
	}
	if err := json.Unmarshal(data, &places); err != nil {
		return nil, err
	}
	var out []textEdit
	for _, p := range places {
		out = append(out, textEdit{file: s.file(p.URI), at: p.Range})
	}
	return out, nil
}

func (s *session) file(uri string) string {
	name, err := filepath.Rel(s.dir, strings.TrimPrefix(strings.ReplaceAll(uri, "%40", "@"), "file://"))
	if err != nil {
		return uri
	}
	return filepath.ToSlash(name)
}

// A textEdit replaces a range of a file.
type textEdit struct {
	file string
	at   span
	text string
}

// offset is where a position is in a text, or -1. Servers count in UTF-16.
func offset(text string, p position) int {
	at := 0
	for range p.Line {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return -1
		}
		at += n + 1
	}
	for n := 0; n < p.Character; {
		r, size := utf8.DecodeRuneInString(text[at:])
		if size == 0 {
			return -1
		}
		n, at = n+max(utf16.RuneLen(r), 1), at+size
	}
	return at
}
