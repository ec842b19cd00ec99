package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func repo(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestPackages(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []Package
	}{
		{"npm workspaces", map[string]string{
			"package.json":            `{"name":"root","workspaces":["packages/*","apps/web"]}`,
			"packages/a/package.json": `{"name":"@x/a"}`, "packages/b/readme.md": "", "apps/web/package.json": `{"name":"web"}`,
		}, []Package{{"root", ".", "javascript"}, {"web", "apps/web", "javascript"}, {"@x/a", "packages/a", "javascript"}}},
		{"pnpm with comments and quotes", map[string]string{
			"package.json": `{"private":true}`, "pnpm-workspace.yaml": "# all\npackages:\n  - 'libs/**' # two levels\ncatalog:\n  - no\n",
			"libs/x/package.json": `{"name":"x"}`, "libs/g/y/package.json": `{"name":"y"}`,
		}, []Package{{"y", "libs/g/y", "javascript"}, {"x", "libs/x", "javascript"}}},
		{"a Go workspace", map[string]string{
			"go.work":  "go 1.26\nuse (\n\t./a // first\n\t./b\n)\nuse ./c\n",
			"a/go.mod": "module example.com/a\n", "b/go.mod": "// x\nmodule \"example.com/b\"\n", "c/go.mod": "module example.com/c",
		}, []Package{{"example.com/a", "a", "go"}, {"example.com/b", "b", "go"}, {"example.com/c", "c", "go"}}},
		{"a Cargo workspace over several lines", map[string]string{
			"Cargo.toml":          "[workspace]\nmembers = [\n  \"crates/*\",\n  'tool',\n]\nresolver = \"2\"\n",
			"crates/x/Cargo.toml": "[package]\nname = \"x\" # it\n", "tool/Cargo.toml": "[package]\nname = 'tool'\n[dependencies]\nname = \"no\"\n",
		}, []Package{{"x", "crates/x", "rust"}, {"tool", "tool", "rust"}}},
		{"one Python project", map[string]string{"pyproject.toml": "[project]\nname = \"app\"\n"}, []Package{{"app", ".", "python"}}},
		{"Maven modules in modules", map[string]string{
			"pom.xml": "<project><groupId>com.acme</groupId><artifactId>shop</artifactId><modules>\n" +
				"<module>core</module><module>web</module><module>../out</module>\n</modules></project>",
			"core/pom.xml": "<project><parent><groupId>com.acme</groupId><artifactId>shop</artifactId></parent>" +
				"<dependencies><dependency><artifactId>no</artifactId></dependency></dependencies><artifactId>core</artifactId></project>",
			"web/pom.xml":     "<project><artifactId>web</artifactId><modules><module>api</module></modules></project>",
			"web/api/pom.xml": "<project><groupId>com.acme.web</groupId><artifactId>api</artifactId></project>",
		}, []Package{
			{"com.acme:shop", ".", "java"},
			{"com.acme:core", "core", "java"},
			{"web", "web", "java"},
			{"com.acme.web:api", "web/api", "java"},
		}},
		{"Gradle projects, in both languages", map[string]string{
			"settings.gradle.kts": "rootProject.name = \"shop\"\nincludeBuild(\"build-logic\")\ninclude(\":core\",\n  \":web:api\") // \":no\"\n",
			"core/build.gradle":   "", "web/api/build.gradle.kts": "", "build-logic/build.gradle": "",
		}, []Package{{"shop", ".", "kotlin"}, {":core", "core", "java"}, {":web:api", "web/api", "kotlin"}}},
		{"no way out of the repository", map[string]string{"package.json": `{"workspaces":["../*","/etc"]}`}, nil},
		{"nonsense", map[string]string{"package.json": `[`, "go.work": "use (", "Cargo.toml": "[workspace]\nmembers = [\"a"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Packages(repo(t, tt.files), 200); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPackagesStopAtTheLimit(t *testing.T) {
	root := repo(t, map[string]string{
		"package.json":     `{"name":"r","workspaces":["p/*"]}`,
		"p/a/package.json": `{"name":"a"}`,
		"p/b/package.json": `{"name":"b"}`,
	})
	if got := Packages(root, 2); len(got) != 2 {
		t.Errorf("got %v", got)
	}
}
