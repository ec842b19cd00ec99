package references

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// The build makes C# of .proto files: no import tells of a generated file, only
// of the namespace that the .proto file names, or that its package is.

// A protoNamespace is what the .proto files of a repository put into one
// namespace of C#.
type protoNamespace struct {
	services map[string]string   // by their names: with the package
	methods  map[string][]string // of the services, by their names
	messages map[string]string   // by their names: with the package
}

var csharpWords = lazy.Regexp(`[A-Za-z_]\w*`)

var csharpNamespace = lazy.Regexp(`(?m)^\s*option\s+csharp_namespace\s*=\s*"([^"]+)"`)

// csharpNamespaces reads the .proto files of the repository, once.
func (r *Repo) csharpNamespaces() map[string]*protoNamespace {
	if r.modules.csharpProtos != nil {
		return r.modules.csharpProtos
	}
	all := map[string]*protoNamespace{}
	r.modules.csharpProtos = all
	files := r.files.Ending(".proto")
	for _, f := range files[:min(len(files), maxProtoFiles)] {
		text := r.files.Read(f)
		name := ""
		if m := csharpNamespace.Get().FindSubmatch(text); m != nil {
			name = string(m[1])
		} else if m := protoPackageLine.Get().FindSubmatch(text); m != nil {
			name = pascalPackage(string(m[1]))
		}
		if name == "" {
			continue
		}
		if all[name] == nil {
			all[name] = &protoNamespace{map[string]string{}, map[string][]string{}, map[string]string{}}
		}
		found, _ := formats.Read(text, f, rules.LanguageOf(f))
		for _, c := range found {
			all[name].add(strings.TrimPrefix(c.Key, "proto:"))
		}
	}
	return all
}

func (n *protoNamespace) add(key string) {
	whole, method, isMethod := strings.Cut(key, "/")
	short := whole[strings.LastIndexByte(whole, '.')+1:]
	if !isMethod {
		n.messages[short] = whole
		return
	}
	n.services[short] = whole
	n.methods[short] = append(n.methods[short], method)
}

// pascalPackage is the namespace that protoc makes of a package: acme.shop_v1 is
// Acme.ShopV1.
func pascalPackage(pkg string) string {
	parts := strings.Split(pkg, ".")
	for i, p := range parts {
		parts[i] = ""
		for word := range strings.SplitSeq(p, "_") {
			if word != "" {
				parts[i] += strings.ToUpper(word[:1]) + word[1:]
			}
		}
	}
	return strings.Join(parts, ".")
}

// protoUsesCSharp adds the messages and methods that a file of C# uses.
func (r *Repo) protoUsesCSharp(v *extract.Version) {
	o := v.Outline
	text := string(o.Source)
	add := func(key string, line int) {
		if c, ok := contract.New("proto:"+key, coord.Uses, line); ok {
			v.Contracts = append(v.Contracts, c)
		}
	}
	all := r.csharpNamespaces()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		ns := all[name]
		if !strings.Contains(text, name) {
			continue
		}
		for _, short := range slices.Sorted(maps.Keys(ns.services)) {
			client := short + "Client"
			if !strings.Contains(text, short+"."+client) {
				continue
			}
			local := ""
			alias := regexp.MustCompile(`using\s+(\w+)\s*=\s*[\w.]*\b` + regexp.QuoteMeta(short+"."+client) + `\s*;`)
			if m := alias.FindStringSubmatch(text); m != nil {
				local = m[1]
			}
			for _, m := range callsOf(o, local, client) {
				method := m.name
				if !slices.Contains(ns.methods[short], method) {
					method = strings.TrimSuffix(method, "Async")
				}
				if slices.Contains(ns.methods[short], method) {
					add(ns.services[short]+"/"+method, m.line)
				}
			}
		}
		told := map[string]bool{}
		for _, m := range csharpWords.Get().FindAllStringIndex(text, -1) {
			word := text[m[0]:m[1]]
			if whole, ok := ns.messages[word]; ok && !told[word] {
				told[word] = true
				add(whole, 1+strings.Count(text[:m[0]], "\n"))
			}
		}
	}
}
