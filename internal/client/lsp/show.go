package lsp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/marks"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// show places what is live in a file in its buffer, and has the editor show it.
func (s *Server) show(d *document) {
	text := d.repo.versions.In(d.text)
	all, err := text.Place(s.ctx, d.live)
	if err != nil {
		s.Log(err)
		return
	}
	d.marks = slices.DeleteFunc(all, func(m marks.Mark) bool {
		return m.Own && (m.Tool == wire.EditorTool || !on(s.settings.Own, true))
	})
	d.inlays = s.inlaysOf(d, text)
	s.publish(d)
}

// publish tells the editor what changed of a file's marks, if anything did.
func (s *Server) publish(d *document) {
	diagnostics := []diagnostic{}
	if on(s.settings.Diagnostics, true) {
		for _, m := range d.marks {
			diagnostics = append(diagnostics, s.diagnosticsOf(m)...)
		}
	}
	slices.SortStableFunc(diagnostics, func(a, b diagnostic) int { return a.Range.Start.Line - b.Range.Start.Line })
	agents := make([]agent, len(d.marks))
	for i, m := range d.marks {
		agents[i] = s.agentOf(m)
	}
	told, err := json.Marshal([]any{diagnostics, agents, d.inlays})
	if sum := sha256.Sum256(told); err != nil || sum == d.shown {
		s.note(err)
		return
	} else if first := d.shown == [sha256.Size]byte{}; first && len(agents) == 0 && len(d.inlays) == 0 {
		d.shown = sum // there never was anything
		return
	} else {
		d.shown = sum
	}
	s.note(s.conn.notify("textDocument/publishDiagnostics", map[string]any{"uri": d.uri, "diagnostics": diagnostics}))
	s.note(s.conn.notify("svc/live", map[string]any{"uri": d.uri, "path": d.path, "agents": agents}))
	if s.client.Capabilities.Workspace.CodeLens.RefreshSupport {
		s.note(s.conn.ask("workspace/codeLens/refresh", nil))
	}
	if s.client.Capabilities.Workspace.InlayHint.RefreshSupport {
		s.note(s.conn.ask("workspace/inlayHint/refresh", nil))
	}
}

// An agent is one piece of work in a file, for editors that draw marks of their
// own. Lines count from 1.
type agent struct {
	Person  string            `json:"person"`
	Own     bool              `json:"own"`
	Agent   string            `json:"agent"`
	Work    string            `json:"work"`
	Age     string            `json:"age"`
	Session *string           `json:"session"`
	Intent  string            `json:"intent"`
	Lines   []coord.LineCount `json:"lines"`
	Placed  bool              `json:"placed"`
	Meets   bool              `json:"meets"`
	Claims  string            `json:"claims"`
	Says    string            `json:"says"`
}

func (s *Server) agentOf(m marks.Mark) agent {
	out := agent{Person: marks.Person(m.LiveWork), Own: m.Own, Agent: marks.Agent(m.LiveWork), Work: marks.Work(m.LiveWork),
		Age: team.Age(s.Now(), marks.When(m.LiveWork)), Session: m.SessionID, Lines: m.At, Placed: m.Placed, Meets: m.Meets, Says: s.says(m)}
	if m.Intent != nil {
		out.Intent = m.Intent.Ref
	}
	if m.Claim != nil {
		out.Claims = peertext.Path(m.Claim.Selector)
	}
	return out
}

func (s *Server) diagnosticsOf(m marks.Mark) (out []diagnostic) {
	severity := severityInfo
	switch {
	case m.Meets:
		severity = severityWarning
	case m.Own:
		severity = severityHint
	}
	for _, l := range m.At {
		text := s.who(m) + " is changing " + definitionAt(m, l) + lineWords(l) + ", " + s.age(m)
		if m.Meets {
			text += "; you changed the same place, and git will not merge the two"
		}
		out = append(out, diagnostic{linesOf(l.Start, l.Count), severity, "svc", text})
	}
	if len(out) == 0 && m.Status != "" {
		out = append(out, diagnostic{linesOf(1, 1), severity, "svc", s.says(m)})
	}
	return out
}

// says is what there is to say of work as a whole.
func (s *Server) says(m marks.Mark) string {
	switch {
	case m.Status == "" && m.Claim != nil:
		return s.who(m) + " has claimed " + peertext.Path(m.Claim.Selector) + " (" + string(m.Claim.Mode) + ")"
	case m.Status == coord.FileDeleted:
		return s.who(m) + " removes this file, " + s.age(m)
	case !m.Placed:
		return s.who(m) + " is changing this file, " + s.age(m) + ", in a version that this clone does not have (git fetch may bring it)"
	}
	return s.who(m) + " is changing this file, " + s.age(m)
}

// who is whose work it is, and what it is about.
func (s *Server) who(m marks.Mark) string {
	name, about := marks.Person(m.LiveWork), []string{}
	if m.Tool != wire.EditorTool {
		about = append(about, marks.Agent(m.LiveWork))
		if name += "'s agent"; m.Own {
			name = "Your agent"
		}
	}
	if m.Intent != nil && m.Intent.Title != nil && m.Tool != wire.EditorTool {
		about = append(about, "'"+peertext.Title(*m.Intent.Title)+"'")
	}
	if len(about) == 0 {
		return name
	}
	return name + " (" + strings.Join(about, ", ") + ")"
}

func (s *Server) age(m marks.Mark) string {
	switch age := team.Age(s.Now(), marks.When(m.LiveWork)); {
	case age == "now":
		return "just now"
	case strings.HasSuffix(age, "m"):
		return strings.TrimSuffix(age, "m") + " min ago"
	default:
		return age + " ago"
	}
}

// definitionAt names the definition that lines are in.
func definitionAt(m marks.Mark, l coord.LineCount) string {
	for k, d := range m.Definitions {
		if o := m.Over[k]; o.Count > 0 && o.Start <= l.Start && l.Start+l.Count <= o.Start+o.Count {
			return "`" + peertext.Line(d.Name, 100) + "`, "
		}
	}
	return ""
}

func lineWords(l coord.LineCount) string {
	switch l.Count {
	case 0:
		return fmt.Sprintf("before line %d", l.Start)
	case 1:
		return fmt.Sprintf("line %d", l.Start)
	}
	return fmt.Sprintf("lines %d-%d", l.Start, l.Start+l.Count-1)
}

// inlaysOf are the users of what the file provides, at its lines.
func (s *Server) inlaysOf(d *document, text *marks.Text) []inlayHint {
	out := []inlayHint{}
	for _, c := range d.live.Contracts {
		line := text.Line(s.ctx, d.base, c.Line)
		if line == 0 {
			continue
		}
		out = append(out, inlayHint{position{line - 1, width(d.text, line-1)}, plural(c.Users, "user", "users") + " in " +
			plural(c.Repos, "repository", "repositories"), true, "who uses " + peertext.Line(c.Key, 200)})
	}
	return out
}

func plural(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (s *Server) inlayHint(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	d, in, err := s.documentAt(params)
	if err != nil || d == nil || !on(s.settings.InlayHints, true) {
		return []inlayHint{}, nil, err
	}
	return slices.DeleteFunc(slices.Clone(d.inlays), func(h inlayHint) bool {
		return in.Range != nil && (h.Position.Line < in.Range.Start.Line || h.Position.Line > in.Range.End.Line)
	}), nil, nil
}

// documentAt is the document of a question; nil if it is none of ours.
func (s *Server) documentAt(params json.RawMessage) (*document, at, error) {
	in, err := read[at](params)
	d := s.docs[in.TextDocument.URI]
	if d != nil && d.repo == nil {
		d = nil
	}
	return d, in, err
}

func (s *Server) codeLens(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	out := []codeLens{}
	d, _, err := s.documentAt(params)
	if err != nil || d == nil || !on(s.settings.CodeLens, true) {
		return out, nil, err
	}
	for _, m := range d.marks {
		if m.Status == "" && m.Claim != nil {
			out = append(out, codeLens{linesOf(1, 0), command{s.says(m), cmdOpen, []any{d.uri, pageOf(m.LiveWork)}}})
		}
		for k, def := range m.Definitions {
			if m.Over[k].Count > 0 {
				title := s.who(m) + " is changing " + peertext.Line(def.Name, 100) + ", " + s.age(m)
				out = append(out, codeLens{linesOf(m.Over[k].Start, 1), command{title, cmdOpen, []any{d.uri, pageOf(m.LiveWork)}}})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b codeLens) int { return a.Range.Start.Line - b.Range.Start.Line })
	return out, nil, nil
}

// under returns the marks that a range meets, and where.
func (d *document) under(r span) (out []marks.Mark, where span) {
	for _, m := range d.marks {
		places := slices.Concat(m.At, m.Over)
		if len(m.At) == 0 {
			places = append(places, coord.LineCount{Start: 1, Count: 1})
		}
		for _, l := range places {
			if l == (coord.LineCount{}) {
				continue
			}
			if at := linesOf(l.Start, l.Count); at.Start.Line <= r.End.Line && r.Start.Line < at.End.Line {
				out, where = append(out, m), at
				break
			}
		}
	}
	return out, where
}

func (s *Server) hover(params json.RawMessage) (any, func(context.Context) (any, error), error) {
	d, in, err := s.documentAt(params)
	if err != nil || d == nil || !on(s.settings.Hover, true) {
		return nil, nil, err
	}
	found, where := d.under(span{in.Position, in.Position})
	if len(found) == 0 {
		return nil, nil, nil
	}
	heads := make([]string, len(found))
	for i, m := range found {
		heads[i] = s.says(m)
	}
	r := d.repo
	return nil, func(ctx context.Context) (any, error) {
		var parts []string
		for i, m := range found {
			parts = append(parts, r.details(ctx, heads[i], m))
		}
		h := hover{Range: where}
		h.Contents.Kind, h.Contents.Value = "markdown", strings.Join(parts, "\n\n---\n\n")
		return h, nil
	}, nil
}

// details are what is known of a piece of work. What cannot be had is left out:
// a hover must not fail for it.
func (r *repo) details(ctx context.Context, head string, m marks.Mark) string {
	lines := []string{"**" + markdown(head) + "**"}
	if w := marks.Work(m.LiveWork); w != "" {
		lines = append(lines, markdown(w))
	}
	if m.SessionID != nil {
		var session coord.Session
		if err := r.Client.Send(ctx, "GET", "/v1/sessions/"+*m.SessionID, nil, &session); err == nil && session.StatusText != nil {
			lines = append(lines, "Last words: "+markdown(peertext.Line(*session.StatusText, 300)))
		}
	}
	for _, c := range r.conflicts(ctx, m.LiveWork) {
		lines = append(lines, fmt.Sprintf("%s (%s): %s", c.Ref, c.Severity, markdown(peertext.Line(team.Between(c), 200))))
	}
	if page, err := r.Page(ctx, pageOf(m.LiveWork)); err == nil {
		lines = append(lines, "[Open the page]("+page+")")
	}
	return strings.Join(lines, "\n\n")
}

// conflicts are those between a piece of work and the person's own.
func (r *repo) conflicts(ctx context.Context, w wire.LiveWork) (out []coord.Conflict) {
	page, err := r.Client.Conflicts(ctx, remoteFilter(r.Repo))
	if err != nil {
		return nil
	}
	for _, c := range page.Items {
		if slices.ContainsFunc(c.Parties, func(p coord.Party) bool {
			return w.Intent != nil && p.Intent != nil && p.Intent.Ref == w.Intent.Ref ||
				w.SessionID != nil && p.SessionID != nil && *p.SessionID == *w.SessionID
		}) {
			out = append(out, c)
		}
	}
	return out
}

// markdown is text of others that formats nothing.
func markdown(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune("\\`*_{}[]<>()#!|~&", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// pageOf is the page of the dashboard about a piece of work.
func pageOf(w wire.LiveWork) string {
	if w.Intent != nil {
		return "/intents/" + w.Intent.Ref
	}
	return "/sessions"
}
