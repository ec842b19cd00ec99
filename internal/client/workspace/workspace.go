// Package workspace lists the packages of a repository: the members of its
// workspaces and the modules at its root. It reads a few small files and
// starts nothing.
package workspace

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/plain"
)

// A Package is one package of a repository.
type Package struct {
	Name     string
	Path     string // from the repository's root; "." for the root itself
	Language string
}

// A manifest is a file that makes its folder a package.
type manifest struct {
	file     string
	language string
	name     func(data []byte, dir string) string
}

var manifests = []manifest{
	{"package.json", "javascript", jsonName},
	{"go.mod", "go", goModule},
	{"Cargo.toml", "rust", func(b []byte, _ string) string { return tomlString(b, "package", "name") }},
	{"pyproject.toml", "python", pyName},
	{"pom.xml", "java", mavenName},
	{"settings.gradle", "java", gradleRoot},
	{"settings.gradle.kts", "kotlin", gradleRoot},
	{"build.gradle", "java", gradleName},
	{"build.gradle.kts", "kotlin", gradleName},
}

// maxFile bounds what is read of one manifest.
const maxFile = 1 << 20

// Packages returns at most limit packages of the repository at root, sorted by
// path.
func Packages(root string, limit int) []Package {
	dirs := []string{"."}
	for _, pattern := range members(root) {
		dirs = append(dirs, expand(root, pattern)...)
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	var out []Package
	for _, dir := range dirs {
		for _, m := range manifests {
			data, ok := read(filepath.Join(root, filepath.FromSlash(dir), m.file))
			if !ok {
				continue
			}
			name := m.name(data, dir)
			if name == "" {
				continue
			}
			if out = append(out, Package{name, dir, m.language}); len(out) >= limit {
				return out
			}
		}
	}
	return out
}

// members returns the folders, as wildcards, that the root's manifests name.
func members(root string) []string {
	var out []string
	if data, ok := read(filepath.Join(root, "package.json")); ok {
		out = append(out, npmMembers(data)...)
	}
	if data, ok := read(filepath.Join(root, "pnpm-workspace.yaml")); ok {
		out = append(out, yamlList(data, "packages")...)
	}
	if data, ok := read(filepath.Join(root, "go.work")); ok {
		out = append(out, goWork(data)...)
	}
	if data, ok := read(filepath.Join(root, "Cargo.toml")); ok {
		out = append(out, tomlList(data, "workspace", "members")...)
	}
	out = append(out, mavenMembers(root, ".", 0)...)
	for _, name := range []string{"settings.gradle", "settings.gradle.kts"} {
		if data, ok := read(filepath.Join(root, name)); ok {
			out = append(out, gradleMembers(data)...)
		}
	}
	if data, ok := read(filepath.Join(root, "pyproject.toml")); ok {
		out = append(out, tomlList(data, "tool.uv.workspace", "members")...)
	}
	return out
}

// expand returns the folders that match pattern; ** stands for one or two
// levels, which is what workspaces have.
func expand(root, pattern string) []string {
	pattern = strings.TrimSuffix(path.Clean(filepath.ToSlash(pattern)), "/package.json")
	if pattern == "." || strings.HasPrefix(pattern, "..") || strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "!") {
		return nil
	}
	patterns := []string{pattern}
	if strings.Contains(pattern, "**") {
		patterns = []string{strings.ReplaceAll(pattern, "**", "*"), strings.ReplaceAll(pattern, "**", "*/*")}
	}
	var out []string
	for _, p := range patterns {
		found, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(p)))
		for _, dir := range found {
			if rel, err := filepath.Rel(root, dir); err == nil && !strings.Contains(rel, "node_modules") {
				out = append(out, filepath.ToSlash(rel))
			}
			if len(out) >= 1000 {
				return out
			}
		}
	}
	return out
}

func read(name string) ([]byte, bool) {
	data, err := plain.Read(name, maxFile)
	return data, err == nil
}

func jsonName(data []byte, _ string) string {
	var p struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(data, &p)
	return p.Name
}

// npmMembers reads both forms of "workspaces".
func npmMembers(data []byte) []string {
	var p struct {
		Workspaces json.RawMessage `json:"workspaces"`
	}
	if json.Unmarshal(data, &p) != nil {
		return nil
	}
	var list []string
	if json.Unmarshal(p.Workspaces, &list) == nil {
		return list
	}
	var nested struct {
		Packages []string `json:"packages"`
	}
	_ = json.Unmarshal(p.Workspaces, &nested)
	return nested.Packages
}

func goModule(data []byte, _ string) string {
	for line := range bytes.Lines(data) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "module "); ok {
			return strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	return ""
}

// goWork returns the folders of "use ./a" and of a use block.
func goWork(data []byte) []string {
	var out []string
	inBlock := false
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		dir, isUse := strings.CutPrefix(line, "use ")
		switch {
		case isUse && strings.TrimSpace(dir) == "(":
			inBlock = true
		case isUse:
			out = append(out, strings.Trim(strings.TrimSpace(dir), `"`))
		case line == ")":
			inBlock = false
		case inBlock && line != "":
			out = append(out, strings.Trim(line, `"`))
		}
	}
	return out
}

func pyName(data []byte, _ string) string {
	if name := tomlString(data, "project", "name"); name != "" {
		return name
	}
	return tomlString(data, "tool.poetry", "name")
}

// yamlList returns the items of a list at the top level.
func yamlList(data []byte, key string) []string {
	var out []string
	inList := false
	for line := range strings.Lines(string(data)) {
		trimmed := strings.TrimSpace(line)
		switch item, isItem := strings.CutPrefix(trimmed, "- "); {
		case inList && isItem:
			item, _, _ = strings.Cut(item, " #")
			out = append(out, strings.Trim(strings.TrimSpace(item), `"'`))
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		default:
			inList = strings.HasPrefix(line, key+":")
		}
	}
	return out
}

// tomlValue returns the text after "key =" in a table, to the end of the table.
func tomlValue(data []byte, table, key string) string {
	inTable := false
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") {
			inTable = trimmed == "["+table+"]"
			continue
		}
		if k, v, ok := strings.Cut(trimmed, "="); ok && inTable && strings.TrimSpace(k) == key {
			return strings.Join(append([]string{v}, lines[i+1:]...), "\n")
		}
	}
	return ""
}

func tomlString(data []byte, table, key string) string {
	line, _, _ := strings.Cut(tomlValue(data, table, key), "\n")
	items := quoted(line)
	if len(items) == 0 {
		return ""
	}
	return items[0]
}

func tomlList(data []byte, table, key string) []string {
	list, _, ok := strings.Cut(tomlValue(data, table, key), "]")
	if !ok {
		return nil
	}
	return quoted(list)
}

// quoted returns the strings between quotes.
func quoted(s string) []string {
	var out []string
	for {
		i := strings.IndexAny(s, `"'`)
		if i < 0 {
			return out
		}
		j := strings.IndexByte(s[i+1:], s[i])
		if j < 0 {
			return out
		}
		out = append(out, s[i+1:i+1+j])
		s = s[i+j+2:]
	}
}
