package formats

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Queries finds what a literal text asks of a database or of a GraphQL
// service.
func Queries(t outline.Text) []contract.Contract {
	head := strings.TrimLeft(t.Value, " \t\r\n(")
	word := strings.ToLower(head[:max(0, strings.IndexFunc(head+" ", func(r rune) bool { return r < 'A' || r > 'z' }))])
	switch word {
	case "query", "mutation", "subscription", "fragment":
		return operationContracts(t.Value, int(t.Line))
	}
	if t.Tag == "gql" || t.Tag == "graphql" {
		if strings.Contains(t.Value, "type ") {
			return schemaContracts(t.Value, int(t.Line))
		}
		return operationContracts(t.Value, int(t.Line))
	}
	if !looksLikeSQL(head) {
		return nil
	}
	return sqlContracts(t.Value, int(t.Line))
}

var sqlShape = lazy.Regexp(`(?is)^(select\b.+\bfrom\b|insert\s+into\b|update\s+\S+(\s+(as\s+)?\w+)?\s+set\b|` +
	`delete\s+from\b|create\s+(unique\s+|temp(orary)?\s+|or\s+replace\s+)*(table|index|view)\b|` +
	`alter\s+table\b|drop\s+(table|view|index)\b|with\s+(recursive\s+)?\w+.*\bas\s*\(|truncate\s+|merge\s+into\b|replace\s+into\b)`)

// looksLikeSQL tells a statement from a sentence that begins with its verb.
func looksLikeSQL(s string) bool {
	m := sqlShape.Get().FindString(s)
	if m == "" {
		return false
	}
	word := m[:strings.IndexFunc(m+" ", func(r rune) bool { return r < 'A' || r > 'z' })]
	switch {
	case strings.ToUpper(word) == word:
		return true
	case strings.ToLower(word) != word: // "Select a file from the list"
		return false
	case word == "select":
		return selectList.Get().MatchString(s)
	}
	return wholeStatement.Get().MatchString(s)
}

// wholeStatement is what statements in small letters go on with, but hardly
// prose: "delete from queue failed".
var wholeStatement = lazy.Regexp(`(?is)` +
	`^(insert|replace|merge)\s+into\s+\S+\s*(as\s+\w+\s*)?(\(|values|select|default|using|set\b|with\b)|` +
	`^update\s+\S+(\s+(as\s+)?\w+)?\s+set\s+\S+?\s*=|` +
	`^delete\s+from\s+[^\s;]+\s*(;|$|(as\s+\w+\s+|\w+\s+)?(where|using|returning|limit|order)\b)|` +
	`^drop\s+(table|view|index)\s+(if\s+exists\s+)?\S+\s*(;|,|$|cascade|restrict)|` +
	`^truncate\s+(table\s+)?\S+\s*(;|,|$|cascade|restart)|^(create|alter|with)\b`)

// selectList is what stands between select and from in SQL, but hardly in
// prose: one thing, or several with commas.
var selectList = lazy.Regexp(`(?is)^select\s+(distinct\s+)?[^\s,]+(\s+as\s+\w+)?(\s*,\s*[^,]+?)*\s+from\s+["` + "`" + `\[]?\w{2,}`)

// articles follow "from" and "into" in prose.
var articles = []string{"the", "a", "an", "this", "that", "your", "our", "it", "my", "here", "there", "each", "all", "any", "its", "their"}

// A sqlToken is a word, a quoted name or a sign.
type sqlToken struct {
	text string
	word bool
	line int // from 0
}

// sqlTokens splits SQL into tokens, without comments and literals.
func sqlTokens(s string) []sqlToken {
	var out []sqlToken
	line := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.HasPrefix(s[i:], "--") || c == '#' && (i == 0 || s[i-1] == '\n'):
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i:], "*/")
			if end < 0 {
				return out
			}
			line += strings.Count(s[i:i+end], "\n")
			i += end + 2
		case c == '\'':
			end := min(outline.Quoted(s, i)+1, len(s))
			line += strings.Count(s[i:end], "\n")
			out = append(out, sqlToken{text: "''", line: line})
			i = end
		case c == '$' && strings.HasPrefix(s[i:], "$$"):
			end := strings.Index(s[i+2:], "$$")
			if end < 0 {
				return out
			}
			line += strings.Count(s[i:i+2+end], "\n")
			i += end + 4
		case c == '"' || c == '`':
			end := min(outline.Quoted(s, i), len(s))
			out = append(out, sqlToken{s[i+1 : end], true, line})
			i = min(end+1, len(s))
		case c == '[' && i+1 < len(s) && outline.IsNameByte(s[i+1]):
			end := strings.IndexByte(s[i:], ']')
			if end < 0 {
				return out
			}
			out = append(out, sqlToken{s[i+1 : i+end], true, line})
			i += end + 1
		case outline.IsNameByte(c) || c == '{':
			j := i
			for j < len(s) && (outline.IsNameByte(s[j]) || s[j] == '{' || s[j] == '}') {
				j++
			}
			out = append(out, sqlToken{s[i:j], true, line})
			i = j
		default:
			out = append(out, sqlToken{text: s[i : i+1], line: line})
			i++
		}
	}
	return out
}

// A sqlReader reads statements.
type sqlReader struct {
	toks   []sqlToken
	at     int
	offset int
	out    []contract.Contract
	ctes   []string
}

// sqlContracts finds the tables that statements define, change and use. Lines
// count from offset.
func sqlContracts(s string, offset int) []contract.Contract {
	r := &sqlReader{toks: sqlTokens(s), offset: offset}
	for r.at < len(r.toks) {
		r.statement()
	}
	return r.out
}

func (r *sqlReader) peek(n int) string {
	if r.at+n >= len(r.toks) || r.at+n < 0 {
		return ""
	}
	return strings.ToLower(r.toks[r.at+n].text)
}

// skip moves over the given words where they stand.
func (r *sqlReader) skip(words ...string) {
	for slices.Contains(words, r.peek(0)) && r.at < len(r.toks) {
		r.at++
	}
}

func (r *sqlReader) statement() {
	switch r.peek(0) {
	case "create":
		r.at++
		own := slices.Contains([]string{"temp", "temporary", "local"}, r.peek(0)) // of one connection
		r.skip("or", "replace", "temp", "temporary", "global", "local", "unlogged", "external")
		if r.peek(0) == "table" && own {
			r.at++
			r.skip("if", "not", "exists")
			r.ctes = append(r.ctes, r.peek(0))
		} else if r.peek(0) == "table" {
			r.at++
			r.createTable()
			return
		}
	case "alter":
		r.at++
		if r.peek(0) == "table" {
			r.at++
			r.alterTable()
			return
		}
	case "drop":
		r.at++
		if r.peek(0) == "table" {
			r.at++
			r.dropTable()
			return
		}
	case "select", "insert", "update", "delete", "with", "merge", "truncate", "replace":
		r.query()
		return
	}
	r.toEnd()
}

func (r *sqlReader) toEnd() {
	for r.at < len(r.toks) && r.toks[r.at].text != ";" {
		r.at++
	}
	r.at++
}

// name reads schema.table.
func (r *sqlReader) name() (string, int) {
	if r.at >= len(r.toks) || !r.toks[r.at].word {
		return "", 0
	}
	line := r.toks[r.at].line
	name := r.toks[r.at].text
	r.at++
	for r.peek(0) == "." && r.at+1 < len(r.toks) {
		name += "." + r.toks[r.at+1].text
		r.at += 2
	}
	if strings.ContainsAny(name, "{}$") {
		return "", line
	}
	return name, line
}

func (r *sqlReader) add(name string, role coord.ContractRole, line int) *contract.Contract {
	if name == "" {
		return nil
	}
	c, ok := contract.New("db:"+name, role, line+r.offset+1)
	if !ok {
		return nil
	}
	r.out = append(r.out, c)
	return &r.out[len(r.out)-1]
}

// query finds the tables that a statement reads or writes.
func (r *sqlReader) query() {
	start, first := r.at, len(r.out)
	defer func() {
		fields := columnsIn(r.toks[min(start, len(r.toks)):min(r.at, len(r.toks))], r.offset)
		for i := first; i < len(r.out); i++ {
			r.out[i].Fields = fields
		}
	}()
	for r.at < len(r.toks) && r.toks[r.at].text != ";" {
		word := r.peek(0)
		switch {
		case word == "with" || word == "," && r.peek(2) == "as" && r.peek(3) == "(":
			r.at++
			r.skip("recursive")
			if r.peek(1) == "as" || r.peek(1) == "(" {
				r.ctes = append(r.ctes, r.peek(0))
			}
		case word == "from" && r.ofExpression() || word == "update" && (r.peek(-1) == "for" || r.peek(-1) == "key"):
			r.at++
		case word == "from" || word == "join" || word == "into" || word == "update" && r.peek(1) != "set" || word == "truncate":
			r.at++
			r.skip("only", "table", "ignore", "lateral")
			r.used()
			for word == "from" && r.peek(0) == "," {
				r.at++
				r.used()
			}
		default:
			r.at++
		}
	}
	r.at++
}

// ofExpression tells whether the word from is no clause here: extract(year from
// x), is distinct from x.
func (r *sqlReader) ofExpression() bool {
	if r.peek(-1) == "distinct" {
		return true
	}
	depth := 0
	for i := r.at - 1; i > 0; i-- {
		switch r.toks[i].text {
		case ")":
			depth++
		case "(":
			if depth--; depth < 0 {
				return slices.Contains([]string{"extract", "substring", "trim", "overlay", "position"}, strings.ToLower(r.toks[i-1].text))
			}
		case ";":
			return false
		}
	}
	return false
}

// ofSystem tells whether a table is the database's own, which no program changes.
func ofSystem(name string) bool {
	name = strings.ToLower(name)
	for _, start := range []string{"sqlite_", "pg_", "pg_catalog.", "information_schema.", "sys.", "mysql.", "performance_schema."} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return name == "dual" || name == "excluded"
}

// used adds a table in a query, with its alias skipped.
func (r *sqlReader) used() {
	if r.peek(0) == "(" || slices.Contains([]string{"select", "set", "values", "unnest", "generate_series"}, r.peek(0)) {
		return
	}
	name, line := r.name()
	if name == "" || name[0] >= '0' && name[0] <= '9' || ofSystem(name) || slices.Contains(articles, name) ||
		slices.Contains(r.ctes, strings.ToLower(name)) ||
		r.peek(0) == "(" && !strings.Contains(name, ".") && r.toks[max(0, r.at-2)].text != "into" &&
			!strings.EqualFold(r.toks[max(0, r.at-2)].text, "into") {
		return
	}
	r.add(name, coord.Uses, line)
	r.skip("as")
	if r.at < len(r.toks) && r.toks[r.at].word && r.at+1 < len(r.toks) && r.toks[r.at+1].text == "," {
		r.at++
	}
}
