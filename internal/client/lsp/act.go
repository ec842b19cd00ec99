package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/svc-hq/svc/internal/client/marks"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Commands of code actions. Those that want words take them as their last
// argument: an editor that asks for them runs the command itself, and one that
// cannot has the page opened, where they can be typed.
const (
	cmdOpen    = "svc.open"    // uri, page
	cmdAck     = "svc.ack"     // uri, CF-n
	cmdMessage = "svc.message" // uri, to, words
	cmdAsk     = "svc.ask"     // uri, to, words
	cmdAnswer  = "svc.answer"  // root, ref of what waits (a question, or thread:id), words
	cmdWait    = "svc.wait"    // uri, session, who
	cmdClaim   = "svc.claim"   // uri, definition or ""
)

func commandNames() []string {
	return []string{cmdOpen, cmdAck, cmdMessage, cmdAsk, cmdAnswer, cmdWait, cmdClaim}
}

const messageInfo = 3 // the kind of message that is no warning

// tell tells the person something.
func (s *Server) tell(kind int, text string) {
	s.note(s.conn.notify("window/showMessage", map[string]any{"type": kind, "message": text}))
}

func remoteFilter(repo string) remote.Filter {
	return remote.Filter{Repo: repo, Status: "live", Mine: true, Limit: 50}
}

// codeAction offers what can be done about the work of others at a line.
func (s *Server) codeAction(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	d, in, err := s.documentAt(params)
	if err != nil || d == nil || in.Range == nil {
		return []codeAction{}, nil, err
	}
	found, _ := d.under(*in.Range)
	if len(found) == 0 {
		return []codeAction{}, nil, nil
	}
	r, uri := d.repo, d.uri
	line := coord.LineCount{Start: in.Range.Start.Line + 1}
	return nil, func(ctx context.Context) (any, error) {
		out := []codeAction{}
		add := func(title, name string, args ...any) {
			out = append(out, codeAction{"svc: " + title, "quickfix", command{title, name, args}})
		}
		for _, m := range found {
			who := marks.Person(m.LiveWork)
			conflicts := r.conflicts(ctx, m.LiveWork)
			for _, c := range conflicts {
				if c.Status == coord.ConflictOpen {
					add("Acknowledge "+c.Ref+" with "+who, cmdAck, uri, c.Ref)
				}
			}
			if to := addressOf(m.LiveWork); to != "" && !m.Own {
				add("Message "+who, cmdMessage, uri, to)
				add("Ask "+who, cmdAsk, uri, to)
			}
			if m.SessionID != nil {
				add("Tell me when "+who+" is done here", cmdWait, uri, *m.SessionID, who)
			}
			if name := strings.Trim(definitionAt(m, line), "`, "); name != "" {
				add("Claim "+name, cmdClaim, uri, name)
			}
			add("Open "+strings.TrimPrefix(pageOf(m.LiveWork), "/"), cmdOpen, uri, pageOf(m.LiveWork))
			for _, c := range conflicts {
				if c.Severity == coord.SeverityBlock {
					add("Override "+c.Ref+" (on its page)", cmdOpen, uri, "/conflicts/"+c.Ref)
				}
			}
		}
		add("Claim this file", cmdClaim, uri, "")
		return out, nil
	}, nil
}

// addressOf is how somebody is written to about a piece of work.
func addressOf(w wire.LiveWork) string {
	switch {
	case w.Intent != nil:
		return "intent:" + w.Intent.Ref
	case w.Developer != nil:
		return "user:" + w.Developer.Email
	}
	return ""
}

// errWords is the error of a command without what it wants.
var errWords = errors.New("say what it is about: the command wants more arguments")

func (s *Server) execute(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	in, err := read[struct {
		Command   string   `json:"command"`
		Arguments []string `json:"arguments"`
	}](params)
	if err != nil {
		return nil, nil, err
	}
	if len(in.Arguments) == 0 {
		return nil, nil, &rpcError{badParams, errWords.Error()}
	}
	d, r := s.docs[in.Arguments[0]], s.repos[in.Arguments[0]]
	if d != nil {
		r = d.repo
	}
	if r == nil {
		return nil, nil, &rpcError{badParams, "no open file of a shared repository: " + peertext.Path(in.Arguments[0])}
	}
	args := append(in.Arguments[1:], "", "", "")
	switch in.Command {
	case cmdOpen:
		return s.page(r, args[0])
	case cmdWait:
		if d == nil || args[0] == "" {
			return nil, nil, &rpcError{badParams, errWords.Error()}
		}
		d.waits = append(d.waits, waiting{args[0], peertext.Person(args[1])})
		return "You will be told when " + d.path + " is free.", nil, nil
	case cmdMessage, cmdAsk:
		if args[1] == "" { // where they can be typed
			return s.page(r, "/intents/"+strings.TrimPrefix(args[0], "intent:"))
		}
	}
	path := ""
	if d != nil {
		path = d.path
	}
	return nil, func(ctx context.Context) (any, error) { return r.run(ctx, in.Command, path, args) }, nil
}

// run does what asks the server.
func (r *repo) run(ctx context.Context, name, path string, args []string) (any, error) {
	post := func(in any, path ...string) error {
		return r.Client.Send(ctx, "POST", "/v1/"+strings.Join(path, "/"), in, nil)
	}
	about := url.PathEscape(args[0])
	switch name {
	case cmdAck:
		return args[0] + ": they know that you have seen it.", post(map[string]any{"action": coord.ActionAck}, "conflicts", about, "actions")
	case cmdMessage:
		_, err := r.Client.SendMessage(ctx, args[0], args[1])
		return "Sent.", err
	case cmdAsk:
		return "Asked.", post(wire.Ask{To: args[0], Question: args[1], Repo: &r.Repo}, "questions")
	case cmdAnswer:
		if thread, ok := strings.CutPrefix(args[0], "thread:"); ok {
			return "Sent.", post(map[string]any{"body": args[1]}, "conversations", url.PathEscape(thread), "messages")
		}
		return "Answered.", post(map[string]any{"answer": args[1]}, "questions", about, "answers")
	case cmdClaim:
		in := wire.DeclareIntent{Title: "Editing " + path, Mode: coord.Shared, Repo: &r.Repo, Scope: &coord.ScopeSet{Paths: []string{path},
			Symbols: []string{}, Contracts: []string{}}}
		if args[0] != "" {
			in.Title = "Editing " + args[0]
			in.Scope.Paths, in.Scope.Symbols = []string{}, []string{path + "#" + args[0]}
		}
		out, err := r.Client.Declare(ctx, in)
		return fmt.Sprintf("%s claims it; svc intents close %s ends that.", out.Intent.Ref, out.Intent.Ref), err
	}
	return nil, &rpcError{noMethod, "svc lsp has no command " + name}
}

// page has the editor open a page of the dashboard, or says where it is.
func (s *Server) page(r *repo, path string) (any, func(context.Context) (any, error), error) {
	if !strings.HasPrefix(path, "/") {
		return nil, nil, &rpcError{badParams, "a page begins with a slash"}
	}
	return nil, func(ctx context.Context) (any, error) {
		address, err := r.Page(ctx, path)
		if err != nil {
			return nil, err
		}
		if s.client.Capabilities.Window.ShowDocument.Support {
			return address, s.conn.ask("window/showDocument", map[string]any{"uri": address, "external": true})
		}
		s.tell(messageInfo, address)
		return address, nil
	}, nil
}
