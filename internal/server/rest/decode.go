package rest

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/api"
)

// decode fills in from path, query, header and body, and validates each
// against the limits declared on the type.
func (s *Server) decode(w http.ResponseWriter, r *http.Request, op *api.Op, in any) error {
	want := s.api.Inputs(*op)
	v := reflect.ValueOf(in).Elem()
	if err := want.SetDefaults(v); err != nil {
		return err
	}
	if err := s.decodeHeader(r, want, v, in); err != nil {
		return err
	}
	how := shape.Strict
	if op.Lenient {
		how = shape.Lenient
	}
	if raw, ok := in.(rawReader); ok {
		body, err := readRaw(w, r, op)
		if err != nil {
			return err
		}
		raw.ReadRaw(body, r.Header.Get)
	} else if len(want.Body.Properties) > 0 {
		if err := s.decodeBody(w, r, op, want.Body, how, in); err != nil {
			return err
		}
	}
	if err := s.decodeQuery(r, op, want, v); err != nil {
		return err
	}
	path, err := fromPath(want.Path, r)
	if err != nil {
		return err
	}
	if f, ok := in.(flowReader); ok {
		if c, err := r.Cookie(s.auth.FlowCookieName()); err == nil {
			f.ReadFlow(c.Value)
		}
	}
	return want.Fill(v, "path", path)
}

// decodeQuery fills in from the query. Most requests with a body have none.
func (s *Server) decodeQuery(r *http.Request, op *api.Op, want *api.Inputs, v reflect.Value) error {
	if r.URL.RawQuery == "" && len(want.Query.Properties) == 0 {
		return nil
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return problem.Newf(problem.BadRequest, "the query is malformed: escape %%, ; and & in its values")
	}
	if err := unknownParameters(op, want, values); err != nil {
		return err
	}
	query, err := fromStrings(want.Query, func(name string) []string { return values[name] })
	if err != nil {
		return err
	}
	if err := problem.Invalid(s.api.Schemas.Validate(want.Query, query, shape.Lenient)); err != nil {
		return err
	}
	return want.Fill(v, "query", query)
}

// unknownParameters refuses what the operation would silently drop: a filter
// with a typo must not answer with everything.
func unknownParameters(op *api.Op, want *api.Inputs, values url.Values) error {
	if want.Whole && values.Get("cursor") != "" {
		return problem.InvalidField("cursor", "is of another list: this one is whole and has no cursors")
	}
	if op.AnyQuery() {
		return nil
	}
	var bad []problem.Field
	for name := range values {
		if _, known := want.Query.Properties[name]; !known && len(bad) < 20 {
			shown := excerpt.Chars(strings.ToValidUTF8(name, "\uFFFD"), 60)
			bad = append(bad, problem.Field{Path: shown, Message: "is not a parameter here; " + takes(want)})
		}
	}
	slices.SortFunc(bad, func(a, b problem.Field) int { return strings.Compare(a.Path, b.Path) })
	return problem.Invalid(bad)
}

func takes(want *api.Inputs) string {
	if names := want.Query.Names(); len(names) > 0 {
		return "this takes " + strings.Join(names, ", ")
	}
	return "this takes none"
}

// decodeHeader fills in from the header, which may say that the rest cannot be
// understood.
func (s *Server) decodeHeader(r *http.Request, want *api.Inputs, v reflect.Value, in any) error {
	if !want.FillText(v, r.Header) {
		header, err := fromStrings(want.Header, func(name string) []string { return r.Header.Values(name) })
		if err != nil {
			return err
		}
		if err := problem.Invalid(s.api.Schemas.Validate(want.Header, header, shape.Lenient)); err != nil {
			return err
		}
		if err := want.Fill(v, "header", header); err != nil {
			return err
		}
	}
	if p, ok := in.(interface{ CheckProtocol() error }); ok {
		return p.CheckProtocol()
	}
	return nil
}

// A rawReader is an input that checks the signature of the request itself.
type rawReader interface {
	ReadRaw(body []byte, header func(string) string)
}

// A flowReader is an input that needs the cookie of an OpenID sign-in.
type flowReader interface{ ReadFlow(value string) }

// decodeBody reads the body with limits and decodes it.
func (s *Server) decodeBody(w http.ResponseWriter, r *http.Request, op *api.Op, schema *shape.Schema, how shape.Strictness, in any) error {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	text, err := readBody(w, r, op, room)
	if err != nil {
		return err
	}
	switch {
	case len(text) == 0 && len(schema.Required) == 0:
		return nil
	case len(text) == 0:
		return problem.Newf(problem.BadRequest, "this needs a JSON object as its body, with %s", strings.Join(schema.Required, ", "))
	}
	return s.api.Decode(text, schema, how, in)
}

// firstStep is how much of a body there is room for before it arrives: most of
// them whole.
const firstStep = 16 << 10

// rooms are for bodies of which nothing is kept once they are decoded.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// readLimited reads a body of at most as many bytes as the row allows, a small one
// into room.
func readLimited(w http.ResponseWriter, r *http.Request, op *api.Op, room *[]byte) ([]byte, error) {
	if err := plainBody(r); err != nil {
		return nil, err
	}
	limit := op.MaxBody
	if limit == 0 {
		limit = api.DefaultMaxBody
	}
	// Room for what is announced is made as it arrives: who announces much and
	// sends little takes little.
	var text []byte
	var err error
	if n := r.ContentLength; 0 < n && n <= min(limit, firstStep) {
		*room = slices.Grow((*room)[:0], int(n))
		text = (*room)[:n]
		_, err = io.ReadFull(r.Body, text)
	} else {
		text, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	}
	if err != nil {
		return nil, unread(err, limit)
	}
	return text, nil
}

// plainBody refuses a body that is packed.
func plainBody(r *http.Request) error {
	if r.Header.Get("Content-Encoding") != "" {
		return problem.Newf(problem.UnsupportedMedia, "send the body as it is, without Content-Encoding")
	}
	return nil
}

// unread says why a body could not be read.
func unread(err error, limit int64) error {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return problem.Newf(problem.TooLarge, "the body may have at most %d bytes", limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problem.Newf(problem.RequestTimeout, "the body came too slowly")
	}
	return problem.Newf(problem.BadRequest, "the body broke off")
}

func readBody(w http.ResponseWriter, r *http.Request, op *api.Op, room *[]byte) ([]byte, error) {
	text, err := readLimited(w, r, op, room)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, problem.Newf(problem.UnsupportedMedia, "send the body as Content-Type: application/json, in UTF-8")
	}
	if !utf8.Valid(text) {
		return nil, problem.Newf(problem.BadRequest, "the body is not valid UTF-8")
	}
	return text, nil
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && mediaType == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// fromStrings reads the parameters of a schema from text: lists are separated
// by commas or repeated.
func fromStrings(schema *shape.Schema, get func(name string) []string) (map[string]any, error) {
	if len(schema.Properties) == 0 {
		return nil, nil
	}
	out := map[string]any{}
	var bad []problem.Field
	for name, p := range schema.Properties {
		values := get(name)
		if len(values) == 0 || len(values) == 1 && values[0] == "" {
			continue
		}
		if !utf8.ValidString(strings.Join(values, "")) {
			bad = append(bad, problem.Field{Path: name, Message: "must be valid UTF-8"})
			continue
		}
		v, err := parse(p, values)
		if err != nil {
			bad = append(bad, problem.Field{Path: name, Message: err.Error()})
			continue
		}
		out[name] = v
	}
	return out, problem.Invalid(bad)
}

func parse(p *shape.Schema, values []string) (any, error) {
	switch as := kind(p); {
	case as == "array":
		list := []any{}
		for _, v := range values {
			for part := range strings.SplitSeq(v, ",") {
				if part = strings.TrimSpace(part); part != "" {
					list = append(list, part)
				}
			}
		}
		return list, nil
	case slices.ContainsFunc(values, func(v string) bool { return v != values[0] }):
		return nil, errors.New("is given more than once")
	case as == "integer":
		n, err := strconv.Atoi(values[0])
		if err != nil {
			return nil, errors.New("must be a whole number")
		}
		return float64(n), nil
	case as == "boolean":
		switch strings.ToLower(values[0]) {
		case "true", "1":
			return true, nil
		case "false", "0":
			return false, nil
		}
		return nil, errors.New("must be true or false")
	}
	return values[0], nil
}

func kind(p *shape.Schema) string {
	switch t := p.Type.(type) {
	case string:
		return t
	case []string:
		return t[0]
	}
	return ""
}

// fromPath reads the path's parameters. What cannot be a name in any database
// names nothing.
func fromPath(schema *shape.Schema, r *http.Request) (map[string]any, error) {
	if len(schema.Properties) == 0 {
		return nil, nil
	}
	out := map[string]any{}
	for name := range schema.Properties {
		value := r.PathValue(name)
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			return nil, problem.Newf(problem.NotFound, "%s in the path is not text", name)
		}
		out[name] = value
	}
	return out, nil
}
