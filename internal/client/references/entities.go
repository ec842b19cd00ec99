package references

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A class that an ORM maps to a table uses the table's columns where migrations
// make the table: what a migration drops, it misses. Only where nothing else
// makes the table the class is what says how it is.

var (
	makesTable = lazy.Regexp(`(?i)create\s+table\s+(?:if\s+not\s+exists\s+)?([\w."` + "`" + `\[\]]+)|` +
		`(?:create_?table|Schema::create|Table)[\s(]*(?:name:)?\s*[:'"](\w+)`)
	makesModel    = lazy.Regexp(`migrations\.CreateModel\(\s*name\s*=\s*['"](\w+)`)
	migrationFile = lazy.Regexp(`(?i)(?:^|/)(?:migrations?|migrate|versions|changelogs?|flyway|alembic|liquibase)/`)
)

// migrationEndings are those of the files that make tables.
var migrationEndings = []string{".sql", ".py", ".rb", ".js", ".ts", ".php", ".cs"}

// entities makes users of the classes whose tables migrations make.
func (r *Repo) entities(v *extract.Version) {
	if r.files.Tree == nil || v.Generated || !slices.ContainsFunc(v.Contracts, func(c contract.Contract) bool { return c.Model }) {
		return
	}
	for i := range v.Contracts {
		c := &v.Contracts[i]
		if !c.Model || !r.migrated(c.Key[strings.LastIndexAny(c.Key, ":.")+1:]) {
			continue
		}
		c.Role = coord.Uses
		for _, p := range c.Shape.Out {
			if len(c.Fields) < contract.MaxFields {
				c.Fields = append(c.Fields, coord.ContractField{Name: p.Name, Line: c.Line})
			}
		}
		c.Shape = contract.Shape{}
	}
}

// migrated tells whether a migration of the repository makes a table. All of
// them are read once, for whatever class asks first.
func (r *Repo) migrated(table string) bool {
	if r.modules.migrated == nil {
		r.modules.migrated = map[string]bool{}
		for _, end := range migrationEndings {
			looked := 0
			for _, f := range r.files.Ending(end) {
				if rules.TestPath(f) || end != ".sql" && !migrationFile.Get().MatchString(f) {
					continue
				}
				if looked++; looked > maxLookedAt {
					break
				}
				made(r.files.Text(f), f, r.modules.migrated)
			}
		}
	}
	return r.modules.migrated[table]
}

// made notes the tables that a migration makes.
func made(text []byte, file string, out map[string]bool) {
	if !slices.ContainsFunc(makingWords, func(w []byte) bool { return bytes.Contains(text, w) }) {
		return
	}
	for _, m := range makesTable.Get().FindAllSubmatch(text, -1) {
		name := string(m[1]) + string(m[2])
		name = strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "\"`[]")
		out[strings.ToLower(name)], out[outline.Snake(name)] = true, true
	}
	app := path.Base(path.Dir(path.Dir(file)))
	for _, m := range makesModel.Get().FindAllSubmatch(text, -1) {
		out[app+"_"+strings.ToLower(string(m[1]))] = true
	}
}

// makingWords are among what a migration says that makes a table: the others
// need no closer look.
var makingWords = [][]byte{[]byte("reate table"), []byte("REATE TABLE"), []byte("reate_table"), []byte("reateTable"), []byte("reateModel"),
	[]byte("Schema::create"), []byte("Table(")}
