package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/shape"
)

type object = map[string]any

// Document returns the OpenAPI 3.1 document of every operation with a route.
func (a *API) Document(version, server string) map[string]any {
	return forGenerators(a.document(version, server)).(object)
}

// forGenerators writes what may be one of two types as alternatives: the
// generators of clients know lists of types only with null.
func forGenerators(v any) any {
	switch v := v.(type) {
	case *shape.Schema:
		return forGenerators(tree(v))
	case object:
		out := make(object, len(v))
		for name, x := range v {
			out[name] = forGenerators(x)
		}
		if types, ok := out["type"].([]any); ok && len(types) > 1 && !slices.Contains(types, any("null")) {
			delete(out, "type")
			var each []any
			for _, t := range types {
				each = append(each, object{"type": t})
			}
			out["anyOf"] = each
		}
		return out
	case map[string]*shape.Schema:
		out := make(object, len(v))
		for name, x := range v {
			out[name] = forGenerators(x)
		}
		return out
	case []object:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = forGenerators(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = forGenerators(x)
		}
		return out
	}
	return v
}

// tree returns the any-form of a schema. The schema that allows anything is
// written as {}, which the other encoder would leave out.
func tree(s *shape.Schema) (out any) {
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("api: a schema cannot be written: %v", err)) // it is made of our own types
	}
	return out
}

func (a *API) document(version, server string) object {
	paths := object{}
	for _, op := range Table {
		if op.Route == "" {
			continue
		}
		method, path, _ := strings.Cut(op.Route, " ")
		item, ok := paths[path].(object)
		if !ok {
			item = object{}
			paths[path] = item
		}
		item[strings.ToLower(method)] = a.operation(op)
	}
	a.Schemas.Of(typeOfProblem, shape.Out)
	webhooks := a.webhooks()
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "svc", "version": version,
			"description": "Coordination for coding agents. Errors are RFC 9457 problems; lists are paged by an opaque cursor."},
		"servers":  []object{{"url": server}},
		"paths":    paths,
		"webhooks": webhooks,
		"components": object{
			"schemas": a.Schemas.Defs,
			"securitySchemes": object{
				"token": object{"type": "http", "scheme": "bearer", "description": "svc_ followed by 43 base64url characters"},
				"cookie": object{
					"type":        "apiKey",
					"in":          "cookie",
					"name":        "svc_session",
					"description": "A dashboard session; X-Svc-Org names the org and writes need X-Svc-CSRF: 1",
				},
			},
		},
		"x-event-types": coord.EventTypes(),
	}
}

func (a *API) operation(op Op) object {
	in := a.Inputs(op)
	doc := object{
		"operationId": operationID(op.Route),
		"summary":     op.Summary,
		"tags":        []string{op.Tag()},
		"responses":   a.responses(op),
		"security":    security(op),
	}
	if text := op.Access(); text != "" {
		doc["description"] = text
	}
	var params []object
	for _, part := range []struct {
		where string
		s     *shape.Schema
	}{{"path", in.Path}, {"query", in.Query}, {"header", in.Header}} {
		for _, name := range part.s.Names() {
			p := part.s.Properties[name]
			params = append(params, object{
				"name":        name,
				"in":          part.where,
				"schema":      p,
				"required":    part.where == "path" || slices.Contains(part.s.Required, name),
				"description": p.Description,
				"explode":     false,
				"style":       style(part.where),
			})
		}
	}
	if params = append(params, headers(op)...); len(params) > 0 {
		doc["parameters"] = params
	}
	if len(in.Body.Properties) > 0 {
		doc["requestBody"] = object{"required": len(in.Body.Required) > 0,
			"content": object{"application/json": object{"schema": in.Body, "example": a.Schemas.Example(in.Body)}}}
	}
	if len(op.Events) > 0 {
		doc["x-events"] = op.Events
	}
	if len(op.Scopes) > 0 {
		doc["x-scopes"] = op.Scopes
	}
	return doc
}

// headers are those that no operation declares, since the way in reads them.
func headers(op Op) (out []object) {
	add := func(name, schema, text string, when bool) {
		if when {
			out = append(out, object{
				"name":        name,
				"in":          "header",
				"required":    false,
				"schema":      object{"type": schema},
				"description": text,
			})
		}
	}
	method, _, _ := strings.Cut(op.Route, " ")
	cookie := op.Door != Public && op.Door != BearerOnly
	add("X-Svc-Org", "string", "With a cookie: the slug of the org that is meant; needed by members of several",
		cookie && op.Door != SignedIn)
	add("X-Svc-CSRF", "string", "With a cookie, for every write: 1", cookie && method != http.MethodGet)
	add("X-Svc-Session", "string", "With a token: the agent's session that acts, as hooks answered it",
		op.Door != Public && op.Door != CookieOnly && op.Door != SignedIn)
	add("Last-Event-ID", "string", "Go on after this event, as browsers do by themselves", op.Route == "GET /v1/stream")
	return out
}

// answerHeaders are those of problems of a status.
func answerHeaders(status int) object {
	text := func(s string) object { return object{"schema": object{"type": "string"}, "description": s} }
	switch status {
	case http.StatusUnauthorized:
		return object{"WWW-Authenticate": text("Bearer, and what was wrong with the token")}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return object{"Retry-After": text("Seconds after which to try again")}
	}
	return nil
}

func style(where string) string {
	if where == "query" {
		return "form"
	}
	return "simple"
}

func (a *API) responses(op Op) object {
	ok := object{"description": http.StatusText(op.Success)}
	switch {
	case op.Route == "GET /v1/stream":
		ok["content"] = object{"text/event-stream": object{"schema": object{"type": "string"},
			"example": "retry: 3000\n\nid: 42\nevent: intent.declared\ndata: {...}\n\n"}}
	case op.Success == http.StatusFound:
		ok["headers"] = object{"Location": object{"schema": object{"type": "string"}}}
	case op.Success != http.StatusNoContent:
		s := a.Schemas.Of(op.Run.Output, shape.Out)
		content := object{"application/json": object{"schema": s, "example": a.Schemas.Example(s)}}
		if format := a.Inputs(op).Query.Properties["format"]; format != nil && slices.Contains(a.Schemas.Resolve(format).Enum, "html") {
			content["text/html"] = object{"schema": object{"type": "string"}, "example": "<!doctype html>..."}
		}
		ok["content"] = content
	}
	out := object{strconv.Itoa(op.Success): ok}
	byStatus := map[int][]problem.Kind{}
	for _, k := range op.Kinds() {
		byStatus[k.Status()] = append(byStatus[k.Status()], k)
	}
	for status, kinds := range byStatus {
		k := kinds[0]
		answer := object{"description": list(kinds, ", "),
			"content": object{"application/problem+json": object{"schema": object{"$ref": shape.RefPrefix + "Body"},
				"example": object{"type": k.Type(), "title": k.Title(), "status": k.Status(), "detail": "what happened, and what to do"}}}}
		if h := answerHeaders(status); h != nil {
			answer["headers"] = h
		}
		out[strconv.Itoa(status)] = answer
	}
	return out
}

// Kinds returns every kind of problem that op can answer with.
func (op *Op) Kinds() []problem.Kind {
	kinds := slices.Clone(op.Problems)
	add := func(k problem.Kind, when bool) {
		if when && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	sends := op.Route != "" && !strings.HasPrefix(op.Route, "GET ") // a body, that may be anything
	takes := op.Run.Input.NumField() > 0 || sends || isList(*op)
	add(problem.Validation, takes)
	add(problem.BadRequest, takes)
	add(problem.TooLarge, sends)
	add(problem.UnsupportedMedia, sends)
	add(problem.RequestTimeout, sends)
	add(problem.NotFound, op.Door != Public || strings.Contains(op.Route, "{")) // the session that a caller names, too
	add(problem.Unauthorized, op.Door != Public)
	add(problem.Forbidden, op.Door != Public)
	add(problem.RateLimited, op.Door != Public) // too many requests of one caller under way
	add(problem.Unavailable, op.Class != Vital) // too much to do, or the database is away
	add(problem.Internal, true)
	slices.Sort(kinds)
	return kinds
}

func security(op Op) []object {
	token, cookie := object{"token": []string{}}, object{"cookie": []string{}}
	switch op.Door {
	case Public:
		return []object{}
	case BearerOnly:
		return []object{token}
	case CookieOnly, SignedIn:
		return []object{cookie}
	}
	return []object{token, cookie}
}

// Access says in words who may call op.
func (op *Op) Access() string {
	var parts []string
	if len(op.Scopes) > 0 {
		parts = append(parts, "Scope: "+list(op.Scopes, " or ")+".")
	}
	if op.Agent == PersonOnly {
		parts = append(parts, "People only: a dashboard cookie, or a personal token with neither hooks:evaluate nor mcp:tools.")
	} else if op.Personal {
		parts = append(parts, "Personal tokens only.")
	}
	if len(op.Roles) > 0 {
		parts = append(parts, "Role: "+list(op.Roles, ", ")+".")
	}
	if op.Who != "" {
		parts = append(parts, "Who: "+op.Who+".")
	}
	return strings.Join(parts, " ")
}

// Tag groups an operation with others of its noun.
func (op *Op) Tag() string {
	_, path, _ := strings.Cut(op.Route, " ")
	path = strings.TrimPrefix(path, "/v1")
	noun, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return noun
}

// operationID makes a stable name of a route: GET /v1/intents/{ref} is
// getIntentsByRef.
func operationID(route string) string {
	method, path, _ := strings.Cut(route, " ")
	id := strings.ToLower(method)
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/v1"), "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			part = "by-" + strings.TrimSuffix(name, "}")
		}
		for word := range strings.FieldsFuncSeq(part, func(r rune) bool { return r == '-' || r == '.' }) {
			id += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return id
}

var typeOfProblem = reflect.TypeFor[problem.Body]()
