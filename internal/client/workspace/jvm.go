package workspace

import (
	"path"
	"path/filepath"
	"strings"
)

// maxDepth is how deep modules of Maven may lie in one another.
const maxDepth = 4

// mavenMembers returns the modules of a pom.xml and of those below it.
func mavenMembers(root, dir string, depth int) []string {
	data, ok := read(filepath.Join(root, filepath.FromSlash(dir), "pom.xml"))
	if !ok || depth == maxDepth {
		return nil
	}
	var out []string
	for list := range between(string(data), "<modules>", "</modules>") {
		for module := range between(list, "<module>", "</module>") {
			module = path.Join(dir, strings.TrimSpace(module))
			if module == "." || strings.HasPrefix(module, "..") || strings.ContainsAny(module, "*?[") {
				continue
			}
			out = append(append(out, module), mavenMembers(root, module, depth+1)...)
		}
	}
	return out
}

// mavenName is group:artifact of a pom.xml; the group may be the parent's.
func mavenName(data []byte, _ string) string {
	text := string(data)
	group := ""
	for _, block := range []string{"parent", "dependencies", "dependencyManagement", "build", "profiles", "reporting"} {
		for inner := range between(text, "<"+block+">", "</"+block+">") {
			if block == "parent" {
				group = first(inner, "groupId")
			}
			text = strings.Replace(text, "<"+block+">"+inner+"</"+block+">", "", 1)
		}
	}
	if own := first(text, "groupId"); own != "" {
		group = own
	}
	name := first(text, "artifactId")
	if name == "" || group == "" {
		return name
	}
	return group + ":" + name
}

func first(s, tag string) string {
	for inner := range between(s, "<"+tag+">", "</"+tag+">") {
		return strings.TrimSpace(inner)
	}
	return ""
}

// between yields the texts between two marks.
func between(s, open, end string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			_, rest, ok := strings.Cut(s, open)
			if !ok {
				return
			}
			inner, after, ok := strings.Cut(rest, end)
			if !ok || !yield(inner) {
				return
			}
			s = after
		}
	}
}

// gradleMembers reads include ':a', ':b:c' and include(":a") of a settings
// file, in either of Gradle's languages.
func gradleMembers(data []byte) []string {
	var out []string
	open := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "include"); ok && rest != "" && strings.ContainsAny(rest[:1], " (\"'") {
			open = true
		} else if !open {
			continue
		}
		line, _, _ = strings.Cut(line, "//")
		for _, name := range quoted(line) {
			out = append(out, strings.ReplaceAll(strings.TrimPrefix(name, ":"), ":", "/"))
		}
		line = strings.TrimSpace(line)
		open = strings.HasSuffix(line, ",") || strings.HasSuffix(line, "(")
	}
	return out
}

// gradleName is what others call the project in a folder: its path with
// colons.
func gradleName(_ []byte, dir string) string {
	if dir == "." {
		return ""
	}
	return ":" + strings.ReplaceAll(dir, "/", ":")
}

// gradleRoot is the name that a settings file gives to the root.
func gradleRoot(data []byte, dir string) string {
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "rootProject.name"); ok && dir == "." {
			if names := quoted(value); len(names) > 0 {
				return names[0]
			}
		}
	}
	return ""
}
