// Package lsp is svc lsp: a language server that shows people, in the editor
// they type in, who else is changing the same lines, and tells others what they
// have typed and not saved. It knows no language. What is live the server says,
// where it stands in a buffer package marks; it may decide neither.
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/marks"
	"github.com/svc-hq/svc/internal/client/remote"
)

// A World is what the language server works with.
type World struct {
	In  io.Reader
	Out io.Writer
	Log func(error)
	Now func() time.Time
	// Connect returns who is to be asked about the working copy at root. An error
	// means that it is shared with nobody, and nothing of it is asked or told.
	Connect func(root string) (Service, error)
}

// A Service is who is asked about one working copy.
type Service struct {
	Client *remote.Client
	Repo   string // as the server knows it
	Copy   string // names the working copy to the server
	Typist Typist // tells of unsaved text
	Saved  func(ctx context.Context, paths []string) error
	Page   func(ctx context.Context, path string) (string, error)
	End    func(context.Context)
}

// A Typist tells others what is unsaved, by path.
type Typist interface {
	Tell(ctx context.Context, unsaved map[string][]byte) error
	Session() string // as the server knows it; "" before something was told
	End(ctx context.Context)
}

// A Server is one editor's. All but the reading and what asks the network runs
// in one goroutine: do are the things to do in it.
type Server struct {
	World
	conn     *conn
	do       chan func()
	ctx      context.Context
	settings Settings
	client   initializeParams
	repos    map[string]*repo // by root; nil ones are shared with nobody
	docs     map[string]*document
	watched  bool // the editor shows who is at work in its repositories
	exit     bool
	clean    bool // it was asked to shut down
}

// Run speaks with one editor until it leaves.
func (w World) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &Server{World: w, ctx: ctx, conn: &conn{in: bufio.NewReaderSize(w.In, 64<<10), out: w.Out}, do: make(chan func(), 64),
		repos: map[string]*repo{}, docs: map[string]*document{}}
	gone := make(chan error, 1)
	go func() { gone <- s.listen() }()
	minute := time.NewTicker(time.Minute) // what says how long ago something was
	defer minute.Stop()
	for !s.exit {
		select {
		case <-ctx.Done():
			s.exit = true
		case err := <-gone:
			if !errors.Is(err, io.EOF) {
				s.Log(err)
			}
			s.exit = true
		case <-minute.C:
			for _, d := range s.docs {
				if len(d.marks) > 0 {
					s.publish(d)
				}
			}
		case f := <-s.do:
			f()
		}
	}
	cancel()
	s.leave(context.WithoutCancel(ctx))
	if !s.clean && ctx.Err() == nil {
		return errors.New("the editor left without a word")
	}
	return nil
}

// leave tells that nothing is typed any more.
func (s *Server) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for _, r := range s.repos {
		if r != nil {
			r.stop()
			r.End(ctx)
		}
	}
}

func (s *Server) listen() error {
	for {
		m, err := s.conn.read()
		if err != nil {
			return err
		}
		if m.Method != "" { // what the editor answers to us changes nothing
			s.later(func() { s.handle(m) })
		}
	}
}

// later has something done by the one goroutine that may.
func (s *Server) later(f func()) {
	select {
	case s.do <- f:
	case <-s.ctx.Done():
	}
}

// apart runs what asks the network, and then what is to be done with it.
func (s *Server) apart(f func(ctx context.Context) func()) {
	go func() {
		ctx, cancel := context.WithTimeout(s.ctx, 15*time.Second)
		defer cancel()
		if then := f(ctx); then != nil {
			s.later(then)
		}
	}()
}

// A handler answers a request now, or returns what finds the answer apart.
type handler func(*Server, json.RawMessage) (answer any, apart func(context.Context) (any, error), err error)

var handlers = map[string]handler{
	"initialize":                       (*Server).initialize,
	"shutdown":                         (*Server).shutdown,
	"exit":                             (*Server).quit,
	"workspace/didChangeConfiguration": (*Server).configure,
	"textDocument/didOpen":             (*Server).didOpen,
	"textDocument/didChange":           (*Server).didChange,
	"textDocument/didSave":             (*Server).didSave,
	"textDocument/didClose":            (*Server).didClose,
	"textDocument/hover":               (*Server).hover,
	"textDocument/codeLens":            (*Server).codeLens,
	"textDocument/inlayHint":           (*Server).inlayHint,
	"textDocument/codeAction":          (*Server).codeAction,
	"workspace/executeCommand":         (*Server).execute,
	"svc/work":                         (*Server).work,
}

func (s *Server) handle(m message) {
	h, known := handlers[m.Method]
	if !known {
		if len(m.ID) > 0 {
			s.note(s.conn.answer(m.ID, nil, &rpcError{noMethod, "svc lsp does not know " + m.Method}))
		}
		return
	}
	answer, apart, err := h(s, m.Params)
	if len(m.ID) == 0 {
		s.note(err)
		return
	}
	if apart == nil || err != nil {
		s.note(s.conn.answer(m.ID, answer, err))
		return
	}
	s.apart(func(ctx context.Context) func() {
		answer, err := apart(ctx)
		return func() { s.note(s.conn.answer(m.ID, answer, err)) }
	})
}

func (s *Server) note(err error) {
	if err != nil {
		s.Log(err)
	}
}

func read[T any](params json.RawMessage) (in T, err error) {
	if err := json.Unmarshal(params, &in); err != nil {
		return in, &rpcError{badParams, err.Error()}
	}
	return in, nil
}

func (s *Server) initialize(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	in, err := read[initializeParams](params)
	if err != nil {
		return nil, nil, err
	}
	if s.client = in; in.Options != nil {
		s.settings.take(*in.Options)
	}
	return capabilities(), nil, nil
}

func (s *Server) shutdown(json.RawMessage) (any, func(context.Context) (any, error), error) {
	s.clean = true
	return nil, nil, nil
}

func (s *Server) quit(json.RawMessage) (any, func(context.Context) (any, error), error) {
	s.exit = true
	return nil, nil, nil
}

func (s *Server) configure(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	in, err := read[struct {
		Settings struct {
			Svc *Settings `json:"svc"`
		} `json:"settings"`
	}](params)
	if err != nil || in.Settings.Svc == nil {
		return nil, nil, err
	}
	s.settings.take(*in.Settings.Svc)
	for _, d := range s.docs {
		if d.repo != nil {
			s.show(d)
		}
	}
	for _, r := range s.repos {
		if r != nil {
			r.typed(s)
		}
	}
	return nil, nil, nil
}

func (s *Server) didOpen(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	in, err := read[didOpen](params)
	if err != nil {
		return nil, nil, err
	}
	d := &document{uri: in.TextDocument.URI, text: []byte(in.TextDocument.Text), file: fileOf(in.TextDocument.URI)}
	if d.file == "" {
		return nil, nil, nil
	}
	found, ok := gitrepo.Find(filepath.Dir(d.file))
	if !ok {
		return nil, nil, nil
	}
	rel, err := filepath.Rel(found.Root, d.file)
	if err != nil {
		return nil, nil, nil
	}
	d.path = filepath.ToSlash(rel)
	s.docs[d.uri] = d
	if r, known := s.repos[found.Root]; known {
		if d.repo = r; r != nil {
			r.want(s, d)
		}
		return nil, nil, nil
	}
	s.repos[found.Root] = nil // nobody, until it is known who
	s.apart(func(context.Context) func() {
		service, err := s.Connect(found.Root)
		if err != nil {
			return func() { s.Log(err) }
		}
		return func() { s.connected(found.Root, service) }
	})
	return nil, nil, nil
}

// connected begins to follow a repository of which it is known now who to ask.
func (s *Server) connected(root string, service Service) {
	if s.repos[root] != nil {
		return
	}
	r := &repo{Service: service, root: root, versions: marks.Repo{Root: root, Copy: service.Copy}}
	s.repos[root] = r
	r.follow(s)
	for _, d := range s.docs {
		if d.repo == nil && within(root, d) {
			d.repo = r
			r.want(s, d)
			if d.dirty {
				r.typed(s)
			}
		}
	}
}

func within(root string, d *document) bool {
	return d.file == filepath.Join(root, filepath.FromSlash(d.path))
}

func (s *Server) didChange(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	in, err := read[didChange](params)
	if err != nil {
		return nil, nil, err
	}
	d := s.docs[in.TextDocument.URI]
	if d == nil {
		return nil, nil, nil
	}
	if d.change(in.ContentChanges) {
		s.publish(d)
	}
	if d.dirty = true; d.repo != nil {
		d.repo.moved(s, d)
		d.repo.typed(s)
	}
	return nil, nil, nil
}

func (s *Server) didSave(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	in, err := read[at](params)
	if d := s.docs[in.TextDocument.URI]; err == nil && d != nil {
		d.dirty = false
		if d.repo != nil {
			d.repo.typed(s)
			d.repo.saved(s, d.path)
		}
	}
	return nil, nil, err
}

func (s *Server) didClose(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	in, err := read[at](params)
	d := s.docs[in.TextDocument.URI]
	if err != nil || d == nil {
		return nil, nil, err
	}
	delete(s.docs, d.uri)
	if d.repo != nil {
		d.repo.typed(s)
		d.repo.tidy(s)
	}
	return nil, nil, nil
}
