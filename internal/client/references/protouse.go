package references

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Code that uses protobuf imports what a generator made of .proto files. The
// names it takes from there are messages and services; which package they are
// of is written in the generated file, or in its path, as generators and
// linters want it.

// A protoModule is an import of generated code.
type protoModule struct {
	pkg   string // of the .proto file
	named bool   // what is imported is a message or service itself, not a module of them
}

// protoUses adds the messages and methods that a file uses.
func (r *Repo) protoUses(v *extract.Version) {
	o := v.Outline
	if r.files.Tree == nil || v.Generated {
		return
	}
	if o.Lang == "csharp" {
		r.protoUsesCSharp(v)
	}
	if len(o.Imports) == 0 {
		return
	}
	modules := map[string]protoModule{}
	for _, im := range o.Imports {
		if m, ok := r.protoImport(o, im); ok {
			modules[im.Local] = m
			if o.Generated == nil {
				o.Generated = map[string]bool{}
			}
			o.Generated[im.Module] = true
		}
	}
	if len(modules) == 0 {
		return
	}
	fields := members(o)
	first := len(v.Contracts)
	for _, n := range o.Names {
		m, ok := modules[n.Local]
		if !ok {
			continue
		}
		name := n.Member
		if m.named {
			im := o.Imports[slices.IndexFunc(o.Imports, func(im outline.Imported) bool { return im.Local == n.Local })]
			if name = im.Name; o.Lang != "typescript" && o.Lang != "javascript" && n.Member != "" && isOuter(name) {
				name = n.Member
			}
		}
		v.Contracts = append(v.Contracts, protoContracts(o, m.pkg, name, n)...)
	}
	for i := first; i < len(v.Contracts); i++ {
		if !strings.Contains(v.Contracts[i].Key, "/") { // a message
			v.Contracts[i].Fields = fields
		}
	}
}

// protoContracts are what the use of one generated name means.
func protoContracts(o *outline.File, pkg, name string, n outline.Name) (out []contract.Contract) {
	add := func(key string, line int) {
		if c, ok := contract.New("proto:"+strings.TrimPrefix(pkg+"."+key, "."), coord.Uses, line); ok {
			out = append(out, c)
		}
	}
	if service := protoService(name); service != "" {
		local := n.Local
		if n.Member != "" { // of a module
			local = ""
		}
		for _, m := range callsOf(o, local, name) {
			add(service+"/"+m.name, m.line)
		}
		return out
	}
	if name = strings.TrimSuffix(name, "Schema"); name == "" || !unicode.IsUpper(rune(name[0])) {
		return nil
	}
	if o.Lang == "go" { // User_Address is nested
		name = strings.ReplaceAll(name, "_", ".")
	}
	add(name, int(n.Line)+1)
	return out
}

// protoServices are the names that generators give to clients of a service.
var protoServices = lazy.Regexp(`^(?:New)?(\w+?)(?:ServiceClientImpl|PromiseClient|ClientImpl|CoroutineStub|BlockingStub|FutureStub|` +
	`Stub|GrpcKt|Grpc|Client|Definition)$|^(\w+Service)$`)

// protoService returns the service that a generated name is a client of.
func protoService(name string) string {
	m := protoServices.Get().FindStringSubmatch(name)
	if m == nil {
		return ""
	}
	if strings.HasSuffix(name, "ServiceClientImpl") {
		return m[1] + "Service"
	}
	return m[1] + m[2]
}

// isOuter tells the class that holds the messages of a file.
func isOuter(name string) bool {
	return strings.HasSuffix(name, "Proto") || strings.HasSuffix(name, "OuterClass")
}

// A methodCall is a call of a method of a client.
type methodCall struct {
	name string
	line int
}

// callsOf finds the methods that are called on variables that hold the client
// of a service, and on the client where it is made. Types are not known, so it
// looks for the variable beside the client's name: client = NewUsersClient(...),
// stub: UsersStub, users userv1.UsersClient. A variable of a function holds it
// in that function alone.
func callsOf(o *outline.File, local, client string) []methodCall {
	token := regexp.QuoteMeta(client)
	if local != "" && local != client {
		token = `(?:` + token + `|` + regexp.QuoteMeta(local) + `)`
	}
	assigned := regexp.MustCompile(`([A-Za-z_$][\w$]*)\s*(?::=|=|:)\s*[^=;\n]*\b` + token + `\b`)
	declared := []*regexp.Regexp{regexp.MustCompile(`\b([A-Za-z_$][\w$]*)\s+(?:\*?[A-Za-z_]\w*\.)?` + token + `\b`)} // users v1.UsersClient
	if o.Lang != "go" {                                                                                              // UsersClient users
		declared = append(declared, regexp.MustCompile(`\b`+token+`(?:\.\w+)?(?:<[^>\n]*>)?[ \t]+([A-Za-z_$][\w$]*)`))
	}
	var out []methodCall
	add := func(from, to int) {
		name := string(o.Source[from:to])
		if !notMethods.Has(name) && protoService(name) == "" {
			out = append(out, methodCall{strings.ToUpper(name[:1]) + camel(name[1:]), 1 + bytes.Count(o.Source[:from], []byte("\n"))})
		}
	}
	for _, m := range regexp.MustCompile(`\b`+token+`\b`).FindAllIndex(o.Source, 200) {
		if from, to := chainedCall(o.Source, m[1]); from > 0 {
			add(from, to)
		}
	}
	holders := map[string][]outline.Span{}
	for _, m := range assigned.FindAllSubmatchIndex(o.Source, 200) {
		if from, _ := chainedCall(o.Source, m[1]); from < 0 {
			name := string(o.Source[m[2]:m[3]])
			holders[name] = append(holders[name], reachOf(o, m[2]))
		}
	}
	for _, d := range declared {
		for _, m := range d.FindAllSubmatchIndex(o.Source, 200) {
			name := string(o.Source[m[2]:m[3]])
			holders[name] = append(holders[name], reachOf(o, m[0]))
		}
	}
	for _, m := range clientCall.Get().FindAllSubmatchIndex(o.Source, -1) {
		at := uint32(m[2])
		if slices.ContainsFunc(holders[string(o.Source[m[2]:m[3]])], func(s outline.Span) bool { return s.Holds(at) }) {
			add(m[4], m[5])
		}
	}
	return out
}

// reachOf is where a variable that is declared at some place can be used: in
// the function around it, or in the whole file.
func reachOf(o *outline.File, at int) outline.Span {
	whole := outline.Span{End: uint32(len(o.Source))}
	if at > 0 && o.Source[at-1] == '.' { // a member of something
		return whole
	}
	var best *outline.Def
	for i := range o.Defs {
		d := &o.Defs[i]
		if d.HasCall && d.Span.Holds(uint32(at)) && (best == nil || d.Span.End-d.Span.Start < best.Span.End-best.Span.Start) {
			best = d
		}
	}
	if best == nil || strings.HasSuffix(best.Name, "__init__") || strings.HasSuffix(best.Name, "constructor") {
		return whole
	}
	return best.Span
}

var method = lazy.Regexp(`^\)\s*\.\s*([A-Za-z]\w*)\s*\(`)

// chainedCall finds the method that is called on what a call gives:
// NewUsersClient(conn).List(ctx). It returns -1 where none is.
func chainedCall(source []byte, at int) (from, to int) {
	if at >= len(source) || source[at] != '(' {
		return -1, -1
	}
	depth := 0
	for i := at; i < len(source) && i < at+2000; i++ {
		switch source[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				if m := method.Get().FindSubmatchIndex(source[i:]); m != nil {
					return i + m[2], i + m[3]
				}
				return -1, -1
			}
		}
	}
	return -1, -1
}

var clientCall = lazy.Regexp(`([A-Za-z_$][\w$]*)\s*\.\s*([A-Za-z]\w*)\s*\(`)

// notMethods are what every client has.
var notMethods = lazy.Words("close Close withDeadlineAfter withInterceptors newBlockingStub newStub newFutureStub newBuilder")

// camel makes list_users listUsers; generators write a method's name as their
// language likes.
func camel(s string) string {
	var b strings.Builder
	up := false
	for _, c := range s {
		switch {
		case c == '_':
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(c))
			up = false
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

var ecmaProto = lazy.Regexp(`(_pb|_connect|_connectweb|_grpc_pb|\.pb)(\.[jt]s)?$`)

var protoFolder = lazy.Regexp(`(^|/)(gen|generated|protos?|pb|protobuf|grpc)(/|$)`)

// protoImport tells whether an import is of generated code, and of which
// package.
func (r *Repo) protoImport(o *outline.File, im outline.Imported) (protoModule, bool) {
	switch o.Lang {
	case "typescript", "javascript":
		return r.protoImportECMA(o, im)
	case "python":
		for _, whole := range []string{im.Module, im.Module + "." + im.Name} {
			if strings.HasSuffix(whole, "_pb2") || strings.HasSuffix(whole, "_pb2_grpc") {
				file := r.files.PythonModule(o, whole)
				dir := strings.ReplaceAll(strings.TrimLeft(whole, "."), ".", "/")
				named := whole == im.Module && im.Name != ""
				pkg := r.protoPackage(file, path.Dir(dir))
				if pkg == "" { // nothing but its name ties it to its .proto file
					pkg = r.protoOfStem(strings.TrimSuffix(strings.TrimSuffix(path.Base(dir), "_grpc"), "_pb2"))
				}
				return protoModule{pkg, named}, true
			}
		}
	case "go":
		return r.protoImportGo(o, im)
	case "java", "kotlin", "scala":
		return r.protoImportJVM(o, im)
	case "rust": // crate::acme::v1::users_client::UsersClient
		head, last, _ := cutLast(im.Module, "::")
		if strings.HasSuffix(last, "_client") {
			return protoModule{protoPath(strings.ReplaceAll(strings.TrimPrefix(head, "crate::"), "::", "/")), true}, true
		}
	}
	return protoModule{}, false
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

func (r *Repo) protoImportECMA(o *outline.File, im outline.Imported) (protoModule, bool) {
	byName := ecmaProto.Get().MatchString(im.Module)
	if !byName && !protoFolder.Get().MatchString(im.Module) {
		return protoModule{}, false
	}
	file, _ := r.files.File(o, locate.Use{Module: im.Module})
	dir := path.Dir(im.Module)
	switch {
	case strings.HasPrefix(im.Module, "."):
		dir = path.Join(path.Dir(o.Path), dir)
	case strings.HasPrefix(im.Module, "@"):
		dir = strings.Join(strings.Split(dir, "/")[min(2, strings.Count(dir, "/")+1):], "/")
	}
	pkg := r.protoPackage(file, dir)
	if !byName && (file == "" || pkg == protoPath(dir) && !bytes.Contains(r.files.Read(file), []byte("protobufPackage"))) {
		return protoModule{}, false
	}
	return protoModule{pkg, im.Name != ""}, true
}

var goProto = lazy.Regexp(`(?:^|/)(?:gen|genproto|generated|protos?|pb|protobuf)(?:/|$)|pb$|connect$`)

func (r *Repo) protoImportGo(o *outline.File, im outline.Imported) (protoModule, bool) {
	m := r.files.GoModule(path.Dir(o.Path))
	if rest, ok := strings.CutPrefix(im.Module, m.Name); ok && m.Name != "" && (rest == "" || rest[0] == '/') {
		dir := path.Join(m.Dir, rest)
		generated := false
		for _, f := range r.files.List(dir) {
			if !strings.HasSuffix(f, ".pb.go") && !strings.HasSuffix(f, ".connect.go") {
				continue
			}
			generated = true
			if m := protoWritten.Get().FindSubmatch(r.files.Read(path.Join(dir, f))); m != nil {
				return protoModule{pkg: string(bytes.Join(m[1:], nil))}, true
			}
		}
		return protoModule{pkg: protoPath(rest)}, generated
	}
	if !strings.Contains(im.Module, ".") || !goProto.Get().MatchString(im.Module) && !strings.HasSuffix(im.Local, "pb") {
		return protoModule{}, false
	}
	if pkg, ok := r.protoOption("go_package", im.Module); ok { // a .proto file says what it is generated into
		return protoModule{pkg: pkg}, true
	}
	dir := strings.TrimSuffix(im.Module, "/"+im.Local)
	if !strings.HasSuffix(im.Local, "connect") {
		dir = im.Module
	}
	parts := strings.Split(dir, "/")
	return protoModule{pkg: protoPath(strings.Join(parts[min(3, len(parts)):], "/"))}, true
}

var packageOption = lazy.Regexp(`(?m)^\s*option\s+(go_package|java_package)\s*=\s*"([^";]+)`)

var protoPackageLine = lazy.Regexp(`(?m)^\s*package\s+([\w.]+)\s*;`)

// maxProtoFiles bounds the .proto files that are looked into.
const maxProtoFiles = 500

// protoOption is the protobuf package that a package of a language was generated
// from, as an option in the .proto files of the repository says.
func (r *Repo) protoOption(option, module string) (string, bool) {
	if r.modules.protoOptions == nil {
		r.modules.protoOptions = map[string]string{}
		files := r.files.Ending(".proto")
		for _, f := range files[:min(len(files), maxProtoFiles)] {
			text := r.files.Read(f)
			pkg := protoPackageLine.Get().FindSubmatch(text)
			if pkg == nil {
				continue
			}
			for _, m := range packageOption.Get().FindAllSubmatch(text, -1) {
				r.modules.protoOptions[string(m[1])+" "+string(m[2])] = string(pkg[1])
			}
		}
	}
	pkg, ok := r.modules.protoOptions[option+" "+module]
	return pkg, ok
}

// protoOfStem is the package of the .proto files of a name, where they agree.
func (r *Repo) protoOfStem(stem string) (pkg string) {
	for _, f := range r.files.Ending(stem + ".proto") {
		if path.Base(f) != stem+".proto" {
			continue
		}
		m := protoPackageLine.Get().FindSubmatch(r.files.Read(f))
		if m == nil || pkg != "" && pkg != string(m[1]) {
			return ""
		}
		pkg = string(m[1])
	}
	return pkg
}

// protoImportJVM takes the classes beside an imported gRPC stub for messages:
// nothing in their names tells.
func (r *Repo) protoImportJVM(o *outline.File, im outline.Imported) (protoModule, bool) {
	stub := func(n string) bool { return strings.HasSuffix(n, "Grpc") || strings.HasSuffix(n, "GrpcKt") }
	of := im.Module
	if at := strings.LastIndexByte(of, '.'); at >= 0 && (stub(of[at+1:]) || isOuter(of[at+1:])) { // of a nested class
		of = of[:at]
	}
	if !slices.ContainsFunc(o.Imports, func(x outline.Imported) bool {
		return stub(x.Name) && x.Module == of || strings.HasPrefix(x.Module, of+".") && stub(strings.TrimPrefix(x.Module, of+"."))
	}) {
		return protoModule{}, false
	}
	if pkg, ok := r.protoOption("java_package", of); ok {
		return protoModule{pkg, true}, true
	}
	for _, top := range []string{"com.", "org.", "io.", "net.", "dev.", "app."} {
		of = strings.TrimPrefix(of, top)
	}
	return protoModule{of, true}, true
}

// protoWritten are how generators write the package into what they make.
var protoWritten = lazy.Regexp(`\(package ([\w.]+)|protobufPackage = ` +
	`"([\w.]+)"|"/([\w.]+)\.\w+/\w+"|'/([\w.]+)\.\w+/\w+'|ServiceName: *"([\w.]+)\.\w+"|Name = "([\w.]+)\.\w+"`)

// protoPackage returns the package of generated code: as it says, or as its
// folder is called.
func (r *Repo) protoPackage(file, dir string) string {
	if file != "" {
		if m := protoWritten.Get().FindSubmatch(r.files.Read(file)); m != nil {
			return string(bytes.Join(m[1:], nil))
		}
	}
	return protoPath(dir)
}

// outside are folders that stand before those of a package.
var outside = []string{
	"", ".", "..", "gen", "generated", "genproto", "proto", "protos", "protobuf", "pb", "stubs", "grpc", "go", "ts", "js",
	"es", "web", "python", "py", "java", "src", "lib", "dist", "internal", "pkg", "node_modules", "packages", "apps",
}

// protoPath makes a package of the folder that generated code lies in.
func protoPath(dir string) string {
	parts := strings.Split(dir, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if slices.Contains(outside, parts[i]) {
			parts = parts[i+1:]
			break
		}
	}
	return strings.Join(parts, ".")
}
