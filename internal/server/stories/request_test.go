package stories

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
)

var (
	aRepeat = regexp.MustCompile(`<(\w)\*(\d+)>`)
	aList   = regexp.MustCompile(`<list\*(\d+)>`)
)

// request sends any request. Besides agents and people it can come from:
// owner, service (a token of the service), made (a service token that root
// made), nobody, noscope; own:bob (with a token that no agent uses); @bob is bob under his session's header, ana@bob is
// ana under bob's.
// What is refused must leave nothing behind.
func (s *story) request(args []string, _ map[string]string) string {
	path := strings.ReplaceAll(args[2], "@example.com", "@"+s.org.Slug+".example.com")
	r := daemontest.Request{Method: args[1], Path: path, Header: map[string]string{}}
	switch who := args[0]; {
	case who == "owner":
		r.Token = s.org.Owner()
	case who == "service":
		r.Token = s.org.Service
	case who == "made":
		r.Token = s.serviceOf("root")
	case who == "noscope":
		u := s.person("noscope", coord.Admin).User
		r.Token = s.w.Token(s.org, &u)
	case strings.HasPrefix(who, "own:"):
		r.Token = s.agent(strings.TrimPrefix(who, "own:")).own
	case strings.Contains(who, "@"):
		person, session, _ := strings.Cut(who, "@")
		r.Header["X-Svc-Session"] = session
		if a := s.agents[session]; a != nil {
			r.Header["X-Svc-Session"] = a.session
			person = cmp.Or(person, session)
		}
		r.Token = s.agent(person).token
	case who != "nobody":
		r.Token = s.agent(who).token
	}
	if len(args) > 3 {
		body := aRepeat.ReplaceAllStringFunc(args[3], func(m string) string {
			p := aRepeat.FindStringSubmatch(m)
			return strings.Repeat(p[1], s.number(p[2]))
		})
		body = aList.ReplaceAllStringFunc(body, func(m string) string {
			var items []string
			for i := range s.number(aList.FindStringSubmatch(m)[1]) {
				items = append(items, fmt.Sprintf(`"f%d"`, i))
			}
			return strings.Join(items, ",")
		})
		for name, a := range s.agents {
			body = strings.ReplaceAll(body, "$"+name, a.session)
		}
		r.Body = []byte(strings.ReplaceAll(body, "@example.com", "@"+s.org.Slug+".example.com"))
	}
	before := s.lastSeq()
	res := s.w.Do(r)
	if res.Status >= 500 {
		s.t.Fatalf("%s %s = %d\n%s", r.Method, r.Path, res.Status, s.w.Log)
	}
	if res.Status < 400 {
		return fmt.Sprintf("%d\n", res.Status) + summary(res)
	}
	if after := s.lastSeq(); after != before {
		s.t.Errorf("%v was refused and left %d events", args, after-before)
	}
	var p problem.Body
	res.JSON(s.t, &p)
	return problemText(p)
}

func (s *story) callTool(args []string, _ map[string]string) string {
	var in map[string]any
	if err := json.Unmarshal([]byte(args[2]), &in); err != nil {
		s.t.Fatal(err)
	}
	var out any
	if failed := s.tool(s.agent(args[0]), args[1], in, &out); failed != "" {
		return failed
	}
	return "done\n"
}

// summary shows the refs of a list, or nothing.
func summary(res daemontest.Response) string {
	var page struct {
		Items      []struct{ Ref string }
		NextCursor *string `json:"next_cursor"`
	}
	if json.Unmarshal(res.Body, &page) != nil || page.Items == nil {
		return ""
	}
	var refs []string
	for _, i := range page.Items {
		refs = append(refs, i.Ref)
	}
	if page.NextCursor != nil {
		refs = append(refs, "and more")
	}
	return strings.Join(refs, " ") + "\n"
}

func (s *story) lastSeq() (n int64) {
	ctx := s.t.Context()
	if err := s.w.Store.Read(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.LastSeq(ctx, s.org.ID)
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// serviceOf returns a service token that a person made.
func (s *story) serviceOf(name string) string { return s.tokenOf(name, coord.ServiceToken) }

// tokenOf makes a token with what an agent of somebody uses.
func (s *story) tokenOf(name string, kind coord.TokenKind) string {
	var out wire.CreatedToken
	if failed := s.call(s.agent(name), "POST", "/v1/tokens", map[string]any{
		"name":   "ci",
		"kind":   kind,
		"scopes": slices.DeleteFunc(coord.ServiceScopes(), func(s coord.Scope) bool { return s == coord.ScopeSCIM }), // a directory's
	}, &out, nil); failed != "" {
		s.t.Fatal(failed)
	}
	return out.Plaintext
}
