package rest

import (
	_ "embed"
	"html/template"
	"net/http"
	"strings"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/api"
)

func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=300")
	s.writeJSON(w, r, plainJSON, http.StatusOK, s.doc())
}

//go:embed docs.html
var docsText string

var docsPage = template.Must(template.New("docs").Parse(docsText))

type docsGroup struct {
	Name string
	Rows []docsRow
}

type docsRow struct {
	Method, Path, Summary, Access string
	Inputs                        []docsField
	Status                        int
}

type docsField struct{ Where, Name, Type, Doc string }

// docs serves the API for people to read: one page, no scripts.
func (s *Server) docs(w http.ResponseWriter, r *http.Request) {
	var groups []docsGroup
	for _, op := range api.Table {
		if op.Route == "" {
			continue
		}
		row := s.docsRow(op)
		name := op.Tag()
		if n := len(groups); n > 0 && groups[n-1].Name == name {
			groups[n-1].Rows = append(groups[n-1].Rows, row)
			continue
		}
		groups = append(groups, docsGroup{name, []docsRow{row}})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'")
	docsPage.Execute(w, map[string]any{"Groups": groups, "Problems": problem.Kinds(), "Version": s.version})
}

func (s *Server) docsRow(op api.Op) docsRow {
	method, path, _ := strings.Cut(op.Route, " ")
	row := docsRow{Method: method, Path: path, Summary: op.Summary, Access: op.Access(), Status: op.Success}
	in := s.api.Inputs(op)
	for _, part := range []struct {
		where string
		names []string
	}{{"path", in.Path.Names()}, {"query", in.Query.Names()}, {"header", in.Header.Names()}, {"body", in.Body.Names()}} {
		for _, name := range part.names {
			p := in.All.Properties[name]
			row.Inputs = append(row.Inputs, docsField{part.where, name, p.Describe(), p.Description})
		}
	}
	return row
}
