package scope

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// Forms returns what each kind of selector looks like, by the name that wire
// types give it in their form tag: regular expressions that the validators of
// JSON Schema and Go read alike, for the API document. The readers of this
// package are the rule, and a test holds these to them, both ways. Two things
// no regular expression says: that each alternative of a glob's braces is a
// path selector itself, and how many and how deep they may be. After each
// comes an example.
func Forms() map[string][2]string {
	repo := uuidForm + `|` + nameForm + `|` + remoteForm()
	resource := ` *` + anyCase("res") + `: *` + resourceForm + ` *`
	return map[string][2]string{
		"symbol or resource": {whole(` *`+symbolForm()+` *`, resource), "src/auth/jwt.go#parseToken"},

		"path":          {whole(globForm()), "src/auth/**"},
		"symbol":        {whole(` *` + symbolForm() + ` *`), "src/auth/jwt.go#parseToken"},
		"contract":      {whole(` *` + contractForm() + ` *`), "http:GET /users/{id}"},
		"lookup":        {whole(` *` + either(anyRoute, methodForm()+` +/`+routeTail(), symbolForm(), contractForm()) + ` *`), "GET /users/{id}"},
		"file":          {whole(fileForm()), "src/auth/jwt.go"},
		"file or route": {whole(fileForm(), anyRoute+` *`), "src/auth/jwt.go"},
		"remote":        {whole(remoteForm()), "git@github.com:acme/shop.git"},
		"repo":          {whole(repo), "acme/shop"},
		"repo or empty": {whole(``, repo), "acme/shop"},
	}
}

func whole(alternatives ...string) string  { return `^` + either(alternatives...) + `$` }
func either(alternatives ...string) string { return `(?:` + strings.Join(alternatives, `|`) + `)` }

// In a class: the characters that no selector has, and those that no file's
// name has.
const (
	control   = `\x00-\x1f\x7f`
	separator = `/\\` + control
)

const slash = `[/\\]`

// An alphabet says which tokens an element is made of: any, those but a
// space, and those but a space and a dot.
type alphabet struct{ any, solid, plain string }

func without(class string) alphabet {
	return alphabet{`[^` + class + `]`, `[^ ` + class + `]`, `[^ .` + class + `]`}
}

// named is an element that begins with no space and is not "", "." or "..",
// whatever spaces follow.
func (a alphabet) named() string {
	return either(a.plain+a.any+`*`, `\.`+either(a.plain+a.any+`*`, ` +`+a.solid+a.any+`*`, `\. *`+a.solid+a.any+`*`))
}

// path is what CleanPath reads: elements that name something, and between
// them empty ones and dots. First is the alphabet of the first element, before
// which there may be spaces unless they were trimmed; a drive is none.
func (a alphabet) path(first alphabet, trimmed bool) string {
	element := either(` *\.? *`, ` *`+a.named())
	more := `(?:` + slash + element + `)*`
	begins := either(first.notDrive(), ` +`+first.named()) + more
	blanks := slash + `(?: *\.? *` + slash + `)*`
	if trimmed {
		return either(first.notDrive()+more, `\. *`+blanks+begins)
	}
	return `(?:(?: +\.? *|\. *)` + blanks + `)?` + begins
}

// notDrive is named, but for a letter with a colon.
func (a alphabet) notDrive() string {
	letter := `[A-Za-z](?:` + strings.Replace(a.any, `[^`, `[^:`, 1) + a.any + `*|:` + a.any + `+)?`
	if a.any == symbolFirst.any {
		letter = `[A-Za-z]` + a.any + `*`
	}
	return either(strings.Replace(a.plain, `[^`, `[^A-Za-z`, 1)+a.any+`*`, letter,
		`\.`+either(a.plain+a.any+`*`, ` +`+a.solid+a.any+`*`, `\. *`+a.solid+a.any+`*`))
}

var (
	fileName    = without(separator)
	symbolFile  = without(separator + `*?{`)
	symbolFirst = without(separator + `*?{:`)
)

func fileForm() string { return fileName.path(fileName, false) }

// symbolForm is <path>#<name> or sym:<lang>:<path>#<name>.
func symbolForm() string {
	return either(`sym:`+languageForm+symbolFile.path(symbolFile, false), symbolFile.path(symbolFirst, true)) + definition
}

const (
	languageForm = `[^ :/#` + control + `]+:`
	definition   = `# *[^ .#` + control + `](?:[^#` + control + `]*[^ .#` + control + `])?`
)

// globForm is what ParseGlob reads.
func globForm() string {
	const no = separator + `{}`
	set := `\[(?:[!^][^` + no + `]|[^!^` + no + `])[^\]` + no + `]*\]`
	token := func(not string) string { return `(?:[^` + not + `\[` + no + `]|` + set + `)` }
	a := alphabet{any: token(``), solid: token(` `), plain: token(` .`)}
	rest := a.any + `*`
	dots := func(plain string) string { return `\.` + either(plain+rest, `\.`+a.any+rest) }
	inner := either(token(`.`)+rest, dots(token(`.`)))
	first := either(token(` .A-Za-z`)+rest, `[A-Za-z](?:`+token(`:`)+rest+`|:`+a.any+rest+`)?`, dots(token(`.`)))
	alone := either(token(` .A-Za-z`)+rest, `[A-Za-z](?:`+token(`:`)+rest+`|: *`+a.solid+rest+`)?`,
		`\.`+either(a.plain+rest, ` +`+a.solid+rest, `\. *`+a.solid+rest))
	end := `(?:` + either(inner, `\.?`) + slash + `)*` + either(a.named(), ` +`+a.solid+rest, ` *`, `\. *`)
	group := `\{[^{}` + control + `]*\}`
	for range maxNesting - 1 {
		group = `\{(?:[^{}` + control + `]|` + group + `)*\}`
	}
	return ` *` + either(
		`(?:\.`+slash+`(?:\.?`+slash+`)*)?`+either(alone, first+slash+end),
		`(?:[^ `+no+`][^{}`+control+`]*)?`+group+`(?:[^{}`+control+`]|`+group+`)*`)
}

// contractForm is what ParseContract reads.
func contractForm() string {
	const text = `[^ ` + control + `]`
	kinds := map[string]string{
		"http":   either(anyRoute, methodForm()+` +`+routeForm()),
		"db":     tablePart + `(?:\.` + tablePart + `){0,2}`,
		"event":  text + `+`,
		"config": text + `+`,
		"gql":    text + `+`,
		"proto":  `[./]*[^ ./` + control + `]` + text + `*`,
		"pkg":    `[^ :` + control + `]+:[^ #` + control + `]+#` + text + `+`,
		"sym":    languageForm + symbolFile.path(symbolFile, false) + definition,
		"res":    resourceForm,
	}
	var out []string
	for _, prefix := range ContractPrefixes() {
		kind := strings.TrimSuffix(prefix, ":")
		out = append(out, anyCase(kind)+`: *`+kinds[kind])
	}
	return either(out...)
}

const (
	resourceForm = `[A-Za-z0-9_-]+:[^ ` + control + `]+`
	tablePart    = "[ \"`\\[\\]]*[^ .\"`\\[\\]" + control + `][^.` + control + `]*`
	anyRoute     = `/[^ ` + control + `]*`
)

// routeForm is a route after its method, as frameworks and clients write it.
func routeForm() string {
	const base = `\$\{[^} ` + control + `]*\}|\{\{?[A-Za-z_][A-Za-z0-9_.]*\}?\}`
	return "[\"'`]*" + either(`\^?/`+routeTail(), `[A-Za-z][A-Za-z0-9+.-]*://[^/ `+control+`]*(?:/`+routeTail()+`)?`,
		`(?:`+base+`)/`+routeTail())
}

// routeTail has spaces only inside a parameter, in braces or angles.
func routeTail() string {
	const inside, none = `[^{}<>/?#` + control + `]*`, ` {}<>` + control
	return either(`[^ `+control+`]*`, `(?:[^`+none+`]|\{`+inside+`\}|\{\{`+inside+`\}\}|<`+inside+`>)*`)
}

// spacedRoute tells routes with spaces where they may be.
var spacedRoute = lazy.Table[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^` + routeForm() + `$`) }}

func methodForm() string {
	out := []string{`\*`, anyCase(AnyMethod), anyCase("ALL")}
	for _, m := range Methods() {
		out = append(out, anyCase(m))
	}
	return either(out...)
}

// anyCase matches a word of letters however it is written.
func anyCase(word string) string {
	var b strings.Builder
	for _, c := range word {
		fmt.Fprintf(&b, "[%s%s]", strings.ToUpper(string(c)), strings.ToLower(string(c)))
	}
	return b.String()
}

const (
	uuidForm = `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`
	nameElem = `(?:[.]{0,2}[A-Za-z0-9_~-][A-Za-z0-9_.~-]*|[.]{3}[A-Za-z0-9_.~-]*)`
	nameForm = nameElem + `(?:/` + nameElem + `)+`
)

// remoteForm is what Fingerprint reads.
func remoteForm() string {
	const (
		host = `[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?\.?`
		long = `[A-Za-z0-9_][A-Za-z0-9._-]{0,251}[A-Za-z0-9_]\.?`
		s    = `[A-Za-z0-9+.-]`
		// any but file
		scheme = `(?:[A-Za-z]` + s + `{0,2}|[A-Za-z]` + s + `{4,}|[A-EG-Za-eg-z]` + s + `{3}|` +
			`[Ff](?:[A-HJ-Za-hj-z0-9+.-]` + s + `{2}|[Ii](?:[A-KM-Za-km-z0-9+.-]` + s + `|[Ll][A-DF-Za-df-z0-9+.-])))`
		not  = `/ \\?#:` + control
		elem = `(?:[^.` + not + `][^` + not + `]*|\.[^.` + not + `][^` + not + `]*|\.\.[^` + not + `]+)`
		path = `/*` + elem + `(?:/` + elem + `)+/*`
	)
	return `[ \t\r\n]*` + either(
		scheme+`://(?:[^/?#`+control+`]*@)?`+host+`(?::[^/@?#`+control+`]*)?/`+path+`(?:[?#][^`+control+`]*)?`,
		`(?:[^/:`+control+`]*@)?`+long+`:/?`+elem+`(?:/`+elem+`)+/*`,
		host+`/`+path) + `[ \t\r\n]*`
}
