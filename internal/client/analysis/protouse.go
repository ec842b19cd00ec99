package analysis

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

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
func (r *run) protoUses(v *version) {
	o := v.outline
	if r.tree == nil || v.generated || len(o.imports) == 0 {
		return
	}
	modules := map[string]protoModule{}
	for _, im := range o.imports {
		if m, ok := r.protoImport(o, im); ok {
			modules[im.local] = m
			if o.generated == nil {
				o.generated = map[string]bool{}
			}
			o.generated[im.module] = true
		}
	}
	if len(modules) == 0 {
		return
	}
	for _, n := range o.names {
		m, ok := modules[n.local]
		if !ok {
			continue
		}
		name := n.member
		if m.named {
			im := o.imports[slices.IndexFunc(o.imports, func(im imported) bool { return im.local == n.local })]
			if name = im.name; o.lang != "typescript" && o.lang != "javascript" && n.member != "" && isOuter(name) {
				name = n.member
			}
		}
		v.contracts = append(v.contracts, protoContracts(o, m.pkg, name, n)...)
	}
}

// protoContracts are what the use of one generated name means.
func protoContracts(o *outline, pkg, name string, n name) (out []contract) {
	add := func(key string, line int) {
		if c, ok := newContract("proto:"+strings.TrimPrefix(pkg+"."+key, "."), coord.Uses, line); ok {
			out = append(out, c)
		}
	}
	if service := protoService(name); service != "" {
		for _, m := range o.callsOf(n.local, name) {
			add(service+"/"+m.name, m.line)
		}
		return out
	}
	if name = strings.TrimSuffix(name, "Schema"); name == "" || !unicode.IsUpper(rune(name[0])) {
		return nil
	}
	if o.lang == "go" { // User_Address is nested
		name = strings.ReplaceAll(name, "_", ".")
	}
	add(name, int(n.line)+1)
	return out
}

// protoServices are the names that generators give to clients of a service.
var protoServices = lazy.Regexp(`^(?:New)?(\w+?)(?:ServiceClientImpl|PromiseClient|ClientImpl|CoroutineStub|BlockingStub|FutureStub|Stub|GrpcKt|Grpc|Client|Definition)$|^(\w+Service)$`)

// protoService returns the service that a generated name is a client of.
func protoService(name string) string {
	m := protoServices().FindStringSubmatch(name)
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
// of a service. Their types are not known, so it looks for the variable beside
// the client's name: client = NewUsersClient(...), stub: UsersStub,
// users userv1.UsersClient.
func (o *outline) callsOf(local, client string) []methodCall {
	token := regexp.QuoteMeta(client)
	if local != "" && local != client {
		token = `(?:` + token + `|` + regexp.QuoteMeta(local) + `)`
	}
	assigned := regexp.MustCompile(`([A-Za-z_$][\w$]*)\s*(?::=|=|:)\s*[^=;\n]*\b` + token + `\b`)
	declared := regexp.MustCompile(`\b(?:[A-Za-z_$][\w$]*\s+(?:\*?[A-Za-z_]\w*\.)?` + token + `\b|` + token + `(?:\.\w+)?(?:<[^>\n]*>)?\s+[A-Za-z_$][\w$]*)`)
	holders := map[string]bool{}
	for _, m := range assigned.FindAllSubmatch(o.source, 200) {
		holders[string(m[1])] = true
	}
	for _, m := range declared.FindAll(o.source, 200) {
		words := strings.Fields(string(m))
		holders[words[0]], holders[words[len(words)-1]] = true, true
	}
	var out []methodCall
	for _, m := range clientCall().FindAllSubmatchIndex(o.source, -1) {
		name := string(o.source[m[4]:m[5]])
		if !holders[string(o.source[m[2]:m[3]])] || notMethods[name] || protoService(name) != "" {
			continue
		}
		out = append(out, methodCall{strings.ToUpper(name[:1]) + camel(name[1:]), 1 + bytes.Count(o.source[:m[4]], []byte("\n"))})
	}
	return out
}

var clientCall = lazy.Regexp(`([A-Za-z_$][\w$]*)\s*\.\s*([A-Za-z]\w*)\s*\(`)

// notMethods are what every client has.
var notMethods = map[string]bool{"close": true, "Close": true, "withDeadlineAfter": true, "withInterceptors": true, "newBlockingStub": true, "newStub": true, "newFutureStub": true, "newBuilder": true}

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
func (r *run) protoImport(o *outline, im imported) (protoModule, bool) {
	switch o.lang {
	case "typescript", "javascript":
		return r.protoImportECMA(o, im)
	case "python":
		for _, whole := range []string{im.module, im.module + "." + im.name} {
			if strings.HasSuffix(whole, "_pb2") || strings.HasSuffix(whole, "_pb2_grpc") {
				file := r.pythonModule(o, whole)
				dir := strings.ReplaceAll(strings.TrimLeft(whole, "."), ".", "/")
				return protoModule{r.protoPackage(file, path.Dir(dir)), whole == im.module && im.name != ""}, true
			}
		}
	case "go":
		return r.protoImportGo(o, im)
	case "java", "kotlin", "scala":
		return r.protoImportJVM(o, im)
	case "rust": // crate::acme::v1::users_client::UsersClient
		head, last, _ := cutLast(im.module, "::")
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

func (r *run) protoImportECMA(o *outline, im imported) (protoModule, bool) {
	byName := ecmaProto().MatchString(im.module)
	if !byName && !protoFolder().MatchString(im.module) {
		return protoModule{}, false
	}
	file, _ := r.locate(o, use{module: im.module})
	dir := path.Dir(im.module)
	switch {
	case strings.HasPrefix(im.module, "."):
		dir = path.Join(path.Dir(o.path), dir)
	case strings.HasPrefix(im.module, "@"):
		dir = strings.Join(strings.Split(dir, "/")[min(2, strings.Count(dir, "/")+1):], "/")
	}
	pkg := r.protoPackage(file, dir)
	if !byName && (file == "" || pkg == protoPath(dir) && !bytes.Contains(r.tree.read(file), []byte("protobufPackage"))) {
		return protoModule{}, false
	}
	return protoModule{pkg, im.name != ""}, true
}

var goProto = lazy.Regexp(`(?:^|/)(?:gen|genproto|generated|protos?|pb|protobuf)(?:/|$)|pb$|connect$`)

func (r *run) protoImportGo(o *outline, im imported) (protoModule, bool) {
	m := r.goModuleOf(path.Dir(o.path))
	if rest, ok := strings.CutPrefix(im.module, m.name); ok && m.name != "" && (rest == "" || rest[0] == '/') {
		dir := path.Join(m.dir, rest)
		for _, f := range r.tree.list(dir) {
			if strings.HasSuffix(f, ".pb.go") || strings.HasSuffix(f, ".connect.go") {
				return protoModule{pkg: r.protoPackage(path.Join(dir, f), rest)}, true
			}
		}
		return protoModule{}, false
	}
	if !strings.Contains(im.module, ".") || !goProto().MatchString(im.module) && !strings.HasSuffix(im.local, "pb") {
		return protoModule{}, false
	}
	dir := strings.TrimSuffix(im.module, "/"+im.local)
	if !strings.HasSuffix(im.local, "connect") {
		dir = im.module
	}
	parts := strings.Split(dir, "/")
	return protoModule{pkg: protoPath(strings.Join(parts[min(3, len(parts)):], "/"))}, true
}

// protoImportJVM takes the classes beside an imported gRPC stub for messages:
// nothing in their names tells.
func (r *run) protoImportJVM(o *outline, im imported) (protoModule, bool) {
	stub := func(n string) bool { return strings.HasSuffix(n, "Grpc") || strings.HasSuffix(n, "GrpcKt") }
	of := im.module
	if at := strings.LastIndexByte(of, '.'); at >= 0 && (stub(of[at+1:]) || isOuter(of[at+1:])) { // of a nested class
		of = of[:at]
	}
	if !slices.ContainsFunc(o.imports, func(x imported) bool {
		return stub(x.name) && x.module == of || strings.HasPrefix(x.module, of+".") && stub(strings.TrimPrefix(x.module, of+"."))
	}) {
		return protoModule{}, false
	}
	for _, top := range []string{"com.", "org.", "io.", "net.", "dev.", "app."} {
		of = strings.TrimPrefix(of, top)
	}
	return protoModule{of, true}, true
}

// protoWritten are how generators write the package into what they make.
var protoWritten = lazy.Regexp(`\(package ([\w.]+)|protobufPackage = "([\w.]+)"|"/([\w.]+)\.\w+/\w+"|'/([\w.]+)\.\w+/\w+'|ServiceName: *"([\w.]+)\.\w+"|Name = "([\w.]+)\.\w+"`)

// protoPackage returns the package of generated code: as it says, or as its
// folder is called.
func (r *run) protoPackage(file, dir string) string {
	if file != "" {
		if m := protoWritten().FindSubmatch(r.tree.read(file)); m != nil {
			return string(bytes.Join(m[1:], nil))
		}
	}
	return protoPath(dir)
}

// outside are folders that stand before those of a package.
var outside = []string{"", ".", "..", "gen", "generated", "genproto", "proto", "protos", "protobuf", "pb", "stubs", "grpc", "go", "ts", "js", "es", "web", "python", "py", "java", "src", "lib", "dist", "internal", "pkg", "node_modules", "packages", "apps"}

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
