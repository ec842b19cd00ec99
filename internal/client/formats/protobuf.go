package formats

import (
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
)

// A protoReader reads .proto files. It is our own because a reader that
// builds descriptors costs every start of the program its registry, and
// because a file in the middle of an edit must still give what it can.
type protoReader struct {
	toks []protoToken
	at   int
	pkg  string
	out  []contract.Contract
	bad  bool // something did not parse
}

type protoToken struct {
	text string
	line int // from 1
}

// readProto reads messages, enums and services.
func readProto(source []byte, _ string) ([]contract.Contract, bool) {
	r := &protoReader{toks: protoTokens(string(source))}
	for r.at < len(r.toks) {
		switch r.peek() {
		case "package":
			r.at++
			r.pkg = r.next()
			r.until(";")
		case "message", "extend":
			r.message(r.pkg)
		case "enum":
			r.enum(r.pkg)
		case "service":
			r.service()
		case "{":
			r.block()
		default:
			r.at++
		}
	}
	return r.out, !r.bad
}

// protoTokens splits a file into names (with dots), numbers and signs.
func protoTokens(s string) []protoToken {
	var out []protoToken
	line := 1
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.HasPrefix(s[i:], "//"):
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
		case c == '"' || c == '\'':
			end := min(outline.Quoted(s, i)+1, len(s))
			out = append(out, protoToken{s[i:end], line})
			line += strings.Count(s[i:end], "\n")
			i = end
		case outline.IsNameByte(c) || c == '.':
			j := i
			for j < len(s) && (outline.IsNameByte(s[j]) || s[j] == '.') {
				j++
			}
			out = append(out, protoToken{s[i:j], line})
			i = j
		default:
			out = append(out, protoToken{s[i : i+1], line})
			i++
		}
	}
	return out
}

func (r *protoReader) peek() string {
	if r.at < len(r.toks) {
		return r.toks[r.at].text
	}
	return ""
}

func (r *protoReader) next() string {
	s := r.peek()
	r.at++
	return s
}

func (r *protoReader) line() int {
	if r.at < len(r.toks) {
		return r.toks[r.at].line
	}
	return 1
}

// until moves behind the next of a sign, but not out of a block.
func (r *protoReader) until(sign string) {
	for r.at < len(r.toks) {
		switch r.peek() {
		case sign:
			r.at++
			return
		case "{":
			r.block()
		case "}":
			return
		default:
			r.at++
		}
	}
}

// block moves behind a block.
func (r *protoReader) block() {
	depth := 0
	for r.at < len(r.toks) {
		switch r.next() {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				return
			}
		}
	}
}

// opens moves into the block that has to begin here, and closes behind its end.
func (r *protoReader) opens() bool  { return r.sign("{") }
func (r *protoReader) closes() bool { return r.sign("}") }

func (r *protoReader) sign(want string) bool {
	if r.peek() != want {
		r.bad = true
		return false
	}
	r.at++
	return true
}

func qualify(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

func (r *protoReader) add(key string, line int) int {
	c, ok := contract.New("proto:"+key, coord.Provides, line)
	if !ok {
		return -1
	}
	r.out = append(r.out, c)
	return len(r.out) - 1
}

func (r *protoReader) message(scope string) {
	line := r.line()
	r.at++
	name := qualify(scope, r.next())
	if !r.opens() {
		return
	}
	at := r.add(name, line)
	fields := r.fields(name, "")
	if at >= 0 {
		r.out[at].Shape.Out = fields
	}
}

// fields reads the body of a message or of a oneof in it.
func (r *protoReader) fields(name, oneof string) []contract.Prop {
	var out []contract.Prop
	for r.at < len(r.toks) {
		switch r.peek() {
		case "}":
			r.at++
			return out
		case "message":
			r.message(name)
		case "enum":
			r.enum(name)
		case "oneof":
			r.at++
			group := r.next()
			if r.opens() {
				out = append(out, r.fields(name, group)...)
			}
		case "reserved", "extensions", "option":
			r.until(";")
		case "extend":
			if r.at += 2; r.peek() == "{" {
				r.block()
			}
		case ";":
			r.at++
		default:
			if f, ok := r.field(oneof); ok {
				out = append(out, f)
			}
		}
	}
	r.bad = true // the file ends within
	return out
}

// field reads "repeated Type name = 1 [options];".
func (r *protoReader) field(oneof string) (contract.Prop, bool) {
	start := r.at
	var words []string
	for r.at < len(r.toks) && r.peek() != "=" && r.peek() != ";" && r.peek() != "}" && r.peek() != "{" {
		words = append(words, r.next())
	}
	rest := words
	if len(words) > 0 && slices.Contains([]string{"repeated", "optional", "required"}, words[0]) {
		rest = words[1:]
	}
	if r.peek() != "=" || len(rest) != 2 && (len(rest) != 7 || rest[0] != "map") { // else a line that is being written runs into the next
		r.at = max(r.at, start+1)
		r.bad = true
		if r.peek() == "{" {
			r.block()
		}
		return contract.Prop{}, false
	}
	r.at++
	number, err := strconv.Atoi(r.peek())
	r.until(";")
	if err != nil {
		r.bad = true
		return contract.Prop{}, false
	}
	typ := strings.TrimPrefix(strings.Join(words[:len(words)-1], " "), "optional ")
	typ = strings.NewReplacer(" < ", "<", " >", ">", " ,", ",").Replace(typ)
	if oneof != "" {
		typ += " in " + oneof
	}
	p := contract.Prop{Name: words[len(words)-1], Typ: typ, Number: number, Required: words[0] == "required"}
	if words[0] == "optional" { // presence is part of the type
		p.Typ = "optional " + typ
	}
	return p, true
}

func (r *protoReader) enum(scope string) {
	line := r.line()
	r.at++
	name := qualify(scope, r.next())
	if !r.opens() {
		return
	}
	at := r.add(name, line)
	var values []contract.Prop
	for r.at < len(r.toks) && r.peek() != "}" {
		if r.peek() == "option" || r.peek() == "reserved" {
			r.until(";")
			continue
		}
		value := r.next()
		if r.peek() != "=" {
			continue
		}
		r.at++
		sign := 1
		if r.peek() == "-" {
			sign = -1
			r.at++
		}
		if n, err := strconv.Atoi(r.peek()); err == nil {
			values = append(values, contract.Prop{Name: value, Typ: strconv.Itoa(sign * n), Required: true})
		}
		r.until(";")
	}
	r.closes()
	if at >= 0 {
		r.out[at].Shape.Out = values
	}
}

func (r *protoReader) service() {
	r.at++
	name := qualify(r.pkg, r.next())
	if !r.opens() {
		return
	}
	for r.at < len(r.toks) && r.peek() != "}" {
		if r.peek() != "rpc" {
			r.until(";")
			continue
		}
		line := r.line()
		r.at++
		method := r.next()
		in := r.inBrackets()
		if r.peek() == "returns" {
			r.at++
		}
		out := r.inBrackets()
		if at := r.add(name+"/"+method, line); at >= 0 {
			r.out[at].Shape = contract.Shape{
				In:  []contract.Prop{{Name: "request", Typ: in, Required: true}},
				Out: []contract.Prop{{Name: "response", Typ: out, Required: true}},
			}
		}
		if r.peek() == "{" {
			r.block()
		} else {
			r.until(";")
		}
	}
	r.closes()
}

// inBrackets reads "(stream Type)".
func (r *protoReader) inBrackets() string {
	if r.peek() != "(" {
		return ""
	}
	r.at++
	var words []string
	for r.at < len(r.toks) && r.peek() != ")" && r.peek() != "{" && r.peek() != "}" {
		words = append(words, strings.TrimPrefix(r.next(), "."))
	}
	r.at++
	return strings.Join(words, " ")
}
