package pathlike_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/pathlike"
	"github.com/svc-hq/svc/internal/core/scope"
)

// shapes are data as programs write it, one program a row: the part between the
// signs is what an edit takes away.
var shapes = []struct{ name, lang, source, lost string }{
	{"Go struct", "go",
		"package m\n\ntype User struct {\n\tID int `json:\"id\"`\n«\tDisplayName string `json:\"display_name,omitempty\"`\n»}\n",
		"display_name"},
	{"Go without tags", "go", "package m\n\ntype User struct {\n\tHome string\n«\tDisplayName string\n»}\n", "DisplayName"},
	{"Kotlin data class", "kotlin",
		"@Serializable\ndata class User(\n    val home: String,\n«    @SerialName(\"display_name\") val displayName: String,\n»)\n",
		"display_name"},
	{"Kotlin without annotations", "kotlin", "data class User(val home: String«, val displayName: String»)\n", "displayName"},
	{"Swift Codable", "swift", "struct User: Codable {\n    let home: String\n«    let displayName: String?\n»}\n", "displayName"},
	{"Swift coding keys", "swift",
		"enum CodingKeys: String, CodingKey {\n    case home\n«    case shown = \"display_name\"\n»}\n", "display_name shown"},
	{"zod object", "typescript",
		"export const User = z.object({\n  home: z.string(),\n«  displayName: z.string().optional(),\n»})\n", "displayName"},
	{"TypeScript interface", "typescript",
		"export interface User {\n  home: string;\n«  display_name?: string;\n»}\n", "display_name"},
	{"TypeScript type", "typescript", "export type User = {\n  home: string\n«  displayName: string\n»}\n", "displayName"},
	{"union of texts", "typescript", "export type State = 'draft'« | 'in_review'» | 'done'\n", "in_review"},
	{"object that is made", "javascript", "exports.view = (u) => ({ home: u.home«, display_name: u.name» });\n", "display_name"},
	{"names that stand for themselves", "javascript", "return res.json({ home«, displayName» });\n", "displayName"},
	{"Rails serialiser", "ruby",
		"class UserSerializer < ActiveModel::Serializer\n  attributes :home«, :display_name»\nend\n", "display_name"},
	{"Jbuilder", "ruby", "json.home user.home\n«json.display_name user.name\n»", "display_name"},
	{"hash of Ruby", "ruby", "def view(u)\n  { home: u.home«, display_name: u.name» }\nend\n", "display_name"},
	{"Python dataclass", "python", "@dataclass\nclass User:\n    home: str\n«    display_name: str = \"\"\n»", "display_name"},
	{"Python dict", "python", "def view(u):\n    return {\"home\": u.home«, \"display_name\": u.name»}\n", "display_name"},
	{"Django serialiser", "python", "class Meta:\n    fields = [\"home\"«, \"display_name\"»]\n", "display_name"},
	{"Python enum", "python", "class State(str, Enum):\n    DRAFT = \"draft\"\n«    IN_REVIEW = \"in_review\"\n»", "in_review"},
	{"Java class", "java", "public class User {\n    private String home;\n«    private String displayName;\n»}\n", "displayName"},
	{"Java record", "java", "public record User(String home«, String displayName») {}\n", "displayName"},
	{"Java annotation", "java",
		"public class User {\n    private String home;\n«    @JsonProperty(\"display_name\")\n    private String shown;\n»}\n",
		"display_name shown"},
	{"enum of Java", "java", "public enum State {\n    DRAFT,\n«    IN_REVIEW,\n»    DONE\n}\n", "IN_REVIEW"},
	{"enum of Kotlin", "kotlin", "enum class State {\n    DRAFT,\n«    IN_REVIEW,\n»    DONE\n}\n", "IN_REVIEW"},
	{"C# class", "csharp",
		"public class User {\n    public string Home { get; set; }\n«    public string DisplayName { get; set; }\n»}\n", "DisplayName"},
	{"PHP resource", "php", "<?php\nreturn [\n  'home' => $u->home,\n«  'display_name' => $u->name,\n»];\n", "display_name"},
	{"PHP constructor", "php",
		"<?php\nclass User {\n  public function __construct(public string $home«, public ?string $displayName») {}\n}\n", "displayName"},
	{"Rust struct", "rust",
		"pub struct User {\n    pub home: String,\n«    pub display_name: Option<String>,\n»}\n", "display_name"},
	{"Dart class", "dart", "class User {\n  final String home;\n«  final String displayName;\n»}\n", "displayName"},
	{"Elixir map", "elixir", "def view(u), do: %{home: u.home«, display_name: u.name»}\n", "display_name"},

	// What nobody else goes by.
	{"a local variable", "javascript", "function f(u) {\n«  const displayName = u.name;\n»  return { home: u.home };\n}\n", ""},
	{"a parameter", "typescript", "function f(home: string«, displayName: string») { return { home } }\n", ""},
	{"a local of Kotlin", "kotlin", "fun f(home: String) {\n«    val displayName: String = home\n»    go(home)\n}\n", ""},
	{"a parameter of Swift", "swift", "func f(home: String«, displayName: String») -> Int { return 1 }\n", ""},
	{"a function", "go", "package m\n\n«func DisplayName() string { return \"\" }\n»\nvar home = 1\n", ""},
	{"a log message", "python", "def f(u):\n«    log.info(\"display_name\", u)\n»    return u\n", ""},
	{"a remark", "go", "package m\n\n«// display_name: is shown\n»var home = 1\n", ""},
	{"a condition", "javascript", "const x = home ? «displayName : »other;\n", ""},
}

func TestLost(t *testing.T) {
	for _, c := range shapes {
		before, rest, _ := strings.Cut(c.source, "«")
		cut, rest, ok := strings.Cut(rest, "»")
		if !ok {
			t.Fatalf("%s takes nothing away", c.name)
		}
		old := pathlike.Read(c.lang, []byte(before+cut+rest)).Fields()
		now := pathlike.Read(c.lang, []byte(before+rest)).Fields()
		var got []string
		lost, _ := pathlike.Lost(old, now)
		for _, l := range lost {
			got = append(got, l.Name)
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.lost {
			t.Errorf("%s: lost %q, want %q", c.name, text, c.lost)
		}
		// What is lost here is found there, as another program writes it.
		for _, l := range got {
			word := scope.FieldWord(l)
			if !slices.ContainsFunc(pathlike.Names(old, false), func(n string) bool { return strings.HasPrefix(n, word+"m") }) {
				t.Errorf("%s: %s is not among the names that are kept", c.name, l)
			}
		}
		if l, came := pathlike.Lost(old, old); len(l)+len(came) > 0 {
			t.Errorf("%s: nothing changed, and lost %v, got %v", c.name, l, came)
		}
		if l, came := pathlike.Lost(now, old); len(l) > 0 || len(came) != len(got) {
			t.Errorf("%s: it was added, and lost %v, got %v", c.name, l, came)
		}
	}
}

// Another kind of value under the same name is told, and another name for the
// same kind is not.
func TestLostTypes(t *testing.T) {
	for _, c := range []struct{ lang, old, now, want string }{
		{"typescript", "interface A { age_group: number }",
			"interface A { age_group: string }", "it holds a text now, which was a number"},
		{"typescript", "interface A { age_group: string }",
			"interface A { age_group: string[] }", "it holds a list now, which was a text"},
		{"typescript", "interface A { age_group: string }", "interface A { age_group?: string }", ""},
		{"go", "type A struct {\n\tAgeGroup int `json:\"age_group\"`\n}", "type A struct {\n\tAgeGroup string `json:\"age_group\"`\n}",
			"it holds a text now, which was a number"},
		{"go", "type A struct {\n\tAgeGroup int `json:\"age_group\"`\n}", "type A struct {\n\tAgeGroup int64 `json:\"age_group\"`\n}", ""},
		{"kotlin", "data class A(val ageGroup: Int)", "data class A(val ageGroup: String)", "it holds a text now, which was a number"},
		{"swift", "struct A: Codable { let ageGroup: Int }",
			"struct A: Codable { let ageGroup: String }", "it holds a text now, which was a number"},
		{"java", "class A { private int ageGroup; }",
			"class A { private String ageGroup; }", "it holds a text now, which was a number"},
		{"python", "class A:\n    age_group: int\n", "class A:\n    age_group: str\n", "it holds a text now, which was a number"},
		{"typescript", "const A = z.object({ age_group: z.number() })", "const A = z.object({ age_group: z.string() })",
			"it holds a text now, which was a number"},
		{"ruby", "class A\n  attributes :age_group\nend", "class A\n  attributes :ageGroup\nend", "it is written ageGroup now"},
		{"typescript", "const A = { age_group: first }", "const A = { age_group: second }", ""},
	} {
		lost, _ := pathlike.Lost(pathlike.Read(c.lang, []byte(c.old)).Fields(), pathlike.Read(c.lang, []byte(c.now)).Fields())
		got := ""
		if len(lost) > 0 {
			got = lost[0].Now
		}
		if got != c.want {
			t.Errorf("%s to %s says %q, want %q", c.old, c.now, got, c.want)
		}
	}
}

// The names of a file that a user has, in whatever way it writes and reads them.
func TestNames(t *testing.T) {
	for lang, source := range map[string]string{
		"typescript": "const { displayName } = await load();", "javascript": "show(user.display_name)", "python": "x = user['display_name']",
		"ruby": "user[:display_name]", "go": "name := m[\"display_name\"]", "java": "user.getDisplayName()",
		"swift":  "label.text = user.displayName",
		"kotlin": "val n = json.getString(\"display_name\")", "php": "<?php echo $user->display_name;", "dart": "Text(json['display_name'])",
	} {
		names := pathlike.Names(pathlike.Read(lang, []byte(source)).Fields(), false)
		if !slices.ContainsFunc(names, func(n string) bool { return n == scope.FieldWord("DisplayName")+"r1" }) {
			t.Errorf("%s is not read as having it: %v", source, names)
		}
	}
	names := pathlike.Names(pathlike.Read("typescript", []byte("interface A { display_name: string }")).Fields(), true)
	if !slices.Contains(names, scope.FieldWord("display-name")+"M1") {
		t.Errorf("a file that a tool wrote is not told from others: %v", names)
	}
}
