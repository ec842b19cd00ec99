package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/engine/join"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A call is one that a client makes, as its truth is written.
type call struct {
	row
	line int
	form scope.Form
	met  join.Certainty // as what it was told
	seen bool           // something of its shape stands in what svc sends
	has  bool           // its route is known of the provider
}

// A telling is a place that is told as a use of a route.
type telling struct {
	provider, key, file string
	line                int
	sure                join.Certainty
	read                bool // by a rule, not by its text alone
}

// A client's figures.
type clientScore struct {
	calls, seen, met int
	links, linked    map[string]bool
	said, right      [3]int // by certainty
	texts, rightText [3]int // of them, those that only a text tells of
	wrong            []telling
	missed           []*call
}

// calls scores all repositories of a table of calls in one org: what is told of
// every route of every provider, held against the truth.
func (s *score) calls(list string) error {
	rows, err := table(list)
	if err != nil {
		return err
	}
	truth, repos := map[string][]*call{}, map[string]bool{}
	for _, r := range rows {
		line, _ := strconv.Atoi(r["line"])
		_, form, _ := scope.RouteForm("http:" + r["method"] + " " + r["path"])
		truth[r["user"]] = append(truth[r["user"]], &call{row: r, line: line, form: form})
		repos[r["user"]], repos[r["provider"]] = true, true
	}
	org := join.NewOrg()
	defer func() { fmt.Fprintln(os.Stderr, "reading took", s.spent) }()
	for repo := range repos {
		if err := s.put(org, repo); err != nil {
			return err
		}
	}
	fmt.Println("| client | calls | seen | told | links | sure: right of all | probably: right of all |")
	fmt.Println("|---|---|---|---|---|---|---|")
	all := clientScore{links: map[string]bool{}, linked: map[string]bool{}}
	for _, user := range slices.Sorted(maps.Keys(truth)) {
		c := s.client(org, user, truth[user], repos)
		c.print(user)
		all.add(&c)
		if s.verbose {
			c.explain()
		}
	}
	all.print("all")
	fmt.Printf("\nof them by their text alone: sure %d of %d, probably %d of %d\n", all.rightText[join.Sure], all.texts[join.Sure],
		all.rightText[join.Probably], all.texts[join.Probably])
	return nil
}

// put files what svc index sends of a repository, as the server does.
func (s *score) put(org *join.Org, repo string) error {
	found, err := s.scan(repo, "HEAD")
	if err != nil {
		return err
	}
	routes, uses := map[string][]string{}, map[string][]join.Text{}
	for _, f := range found {
		method, form, ok := scope.RouteForm(f.Key)
		switch {
		case !ok:
		case f.Role == coord.Provides:
			routes[f.file] = append(routes[f.file], f.Key)
		case !rules.TestPath(f.file):
			uses[f.file] = append(uses[f.file], join.Text{Path: f.file, Line: f.Line, Form: form, Method: method, Known: true})
		}
	}
	for path, keys := range routes {
		org.SetRoutes(repo, path, keys)
	}
	for path, texts := range uses {
		org.SetTexts(repo, "uses of "+path, texts)
	}
	for path, texts := range s.texts[repo] {
		org.SetTexts(repo, path, engine.TextsOf(path, texts))
	}
	return nil
}

// client scores one client.
func (s *score) client(org *join.Org, user string, truth []*call, repos map[string]bool) clientScore {
	out := clientScore{links: map[string]bool{}, linked: map[string]bool{}}
	for provider := range repos {
		if provider == user {
			continue
		}
		for _, t := range s.told(org, provider, user) {
			out.said[t.sure]++
			right := t.right(truth)
			if !t.read {
				out.texts[t.sure]++
			}
			if right && !t.read {
				out.rightText[t.sure]++
			}
			if right {
				out.right[t.sure]++
			} else {
				out.wrong = append(out.wrong, t)
			}
		}
	}
	for _, c := range truth {
		link := user + " " + c.row["method"] + " " + c.row["path"]
		out.links[link] = true
		out.calls++
		c.seen, c.has = s.sees(user, c), s.serves(c)
		if c.seen {
			out.seen++
		}
		if c.met != join.NotSaid {
			out.met++
			out.linked[link] = true
			continue
		}
		out.missed = append(out.missed, c)
	}
	return out
}

// told lists what is told of every route of a provider.
func (s *score) told(org *join.Org, provider, user string) (out []telling) {
	provided, _ := s.scan(provider, "HEAD")
	calls, _ := s.scan(user, "HEAD")
	used := slices.DeleteFunc(slices.Clone(calls), func(f found) bool {
		return f.Role != coord.Uses || !strings.HasPrefix(f.Key, "http:") || rules.TestPath(f.file)
	})
	done := map[string]bool{}
	for _, p := range provided {
		if p.Role != coord.Provides || !strings.HasPrefix(p.Key, "http:") || done[p.Key] {
			continue
		}
		done[p.Key] = true
		places := map[string]bool{}
		for _, u := range used {
			at := telling{provider, p.Key, u.file, u.Line, join.NotSaid, true}
			if one := scope.ContractsOverlap(p.Key, u.Key); one || scope.RoutesMeet(p.Key, u.Key) {
				at.sure = org.Read(provider, user, p.Key, one, false)
			}
			if at.sure != join.NotSaid {
				places[fmt.Sprint(u.file, u.Line)] = true
				out = append(out, at)
			}
		}
		for _, u := range org.Uses(provider, user, p.Key, false) {
			if !places[fmt.Sprint(u.Path, u.Line)] {
				out = append(out, telling{provider, p.Key, u.Path, u.Line, u.Certainty, false})
			}
		}
	}
	return out
}

// near is how many lines a call may be from where its path stands.
const near = 3

// right reports whether the truth has a call of that route there, and notes it.
func (t telling) right(truth []*call) bool {
	method, form, _ := scope.RouteForm(t.key)
	found := false
	for _, c := range truth {
		if c.row["provider"] != t.provider || c.row["file"] != t.file || max(c.line-t.line, t.line-c.line) > near ||
			method != c.row["method"] && method != scope.AnyMethod && c.row["method"] != scope.AnyMethod {
			continue
		}
		if fit, ok := join.Fits(form, c.form); slices.Equal(form, c.form) || ok && fit.Whole() && fit.Filled == 0 {
			c.met, found = max(c.met, t.sure), true
		}
	}
	return found
}

// sees reports whether something of a call's shape is sent.
func (s *score) sees(user string, c *call) bool {
	fits := func(form scope.Form, line int, file string) bool {
		_, ok := join.Fits(c.form, form)
		return ok && file == c.row["file"] && max(line-c.line, c.line-line) <= near
	}
	for _, t := range engine.TextsOf(c.row["file"], s.texts[user][c.row["file"]]) {
		if fits(t.Form, t.Line, c.row["file"]) {
			return true
		}
	}
	used, _ := s.scan(user, "HEAD")
	return slices.ContainsFunc(used, func(f found) bool {
		_, form, ok := scope.RouteForm(f.Key)
		return ok && f.Role == coord.Uses && fits(form, f.Line, f.file)
	})
}

// serves reports whether the route of a call is known of its provider.
func (s *score) serves(c *call) bool {
	provided, _ := s.scan(c.row["provider"], "HEAD")
	return slices.ContainsFunc(provided, func(f found) bool {
		method, form, ok := scope.RouteForm(f.Key)
		if !ok || f.Role != coord.Provides || method != c.row["method"] && method != scope.AnyMethod && c.row["method"] != scope.AnyMethod {
			return false
		}
		fit, ok := join.Fits(form, c.form)
		return ok && fit.Whole()
	})
}

func (c *clientScore) add(o *clientScore) {
	c.calls, c.seen, c.met = c.calls+o.calls, c.seen+o.seen, c.met+o.met
	maps.Copy(c.links, o.links)
	maps.Copy(c.linked, o.linked)
	for i := range c.said {
		c.said[i], c.right[i] = c.said[i]+o.said[i], c.right[i]+o.right[i]
		c.texts[i], c.rightText[i] = c.texts[i]+o.texts[i], c.rightText[i]+o.rightText[i]
	}
}

func (c *clientScore) print(name string) {
	fmt.Printf("| %s | %d | %d | %d (%s) | %d of %d (%s) | %d of %d (%s) | %d of %d (%s) |\n",
		name, c.calls, c.seen, c.met, share(c.met, c.calls),
		len(c.linked), len(c.links), share(len(c.linked), len(c.links)), c.right[join.Sure], c.said[join.Sure],
		share(c.right[join.Sure], c.said[join.Sure]), c.right[join.Probably], c.said[join.Probably],
		share(c.right[join.Probably], c.said[join.Probably]))
}

func (c *clientScore) explain() {
	for _, m := range c.missed {
		fmt.Printf("  missed %s:%d %s %s (seen: %v, route known: %v)\n", m.row["file"], m.line, m.row["method"], m.row["path"], m.seen, m.has)
	}
	for _, w := range c.wrong {
		how := "text"
		if w.read {
			how = "rule"
		}
		fmt.Printf("  wrong (%d, %s) %s:%d as %s of %s\n", w.sure, how, w.file, w.line, w.key, w.provider)
	}
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", (n*100+of/2)/of)
}
