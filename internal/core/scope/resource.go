package scope

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// ResourcePrefix begins the key of something that is no file and that one
// worker at a time has: a port, a test database, a deploy slot, a migration's
// number.
const ResourcePrefix = "res:"

// Migrations is the kind of resource whose names are folders, each with a
// number to hand out.
const Migrations = "migration"

// A Resource is a key res:<kind>:<name>, read.
type Resource struct{ Kind, Name string }

// ParseResource reads a canonical key; ok is false for other contracts.
func ParseResource(key string) (r Resource, ok bool) {
	rest, ok := strings.CutPrefix(key, ResourcePrefix)
	if !ok {
		return r, false
	}
	r.Kind, r.Name, ok = strings.Cut(rest, ":")
	return r, ok
}

// IsResource reports whether a selector, however it is spelled, is meant to name
// a resource.
func IsResource(s string) bool {
	kind, _, ok := strings.Cut(strings.TrimLeft(s, " "), ":")
	return ok && lower(kind)+":" == ResourcePrefix
}

func (r Resource) String() string { return ResourcePrefix + r.Kind + ":" + r.Name }

// Counted reports whether a key asks for whichever number comes next.
func (r Resource) Counted() bool {
	if r.Kind == Migrations {
		_, numbered := r.Number()
		return !numbered
	}
	return r.Name == "*"
}

// Number returns the number that a key names, if it names one.
func (r Resource) Number() (n int64, ok bool) {
	name := r.Name
	if r.Kind == Migrations {
		name = path.Base(name)
	}
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil && n >= 0
}

// With returns the key of one number of what r asks for.
func (r Resource) With(n int64) Resource {
	if r.Kind == Migrations {
		return Resource{r.Kind, r.Name + "/" + strconv.FormatInt(n, 10)}
	}
	return Resource{r.Kind, strconv.FormatInt(n, 10)}
}

// resourceKey reads <kind>:<name>. Numbers lose their leading zeros, so that
// 0043 and 43 are one.
func resourceKey(s string) (string, error) {
	kind, name, ok := strings.Cut(s, ":")
	kind = lower(kind)
	if !ok || !isKind(kind) || name == "" || strings.Contains(name, " ") {
		return "", fmt.Errorf("needs a kind and a name without spaces, such as res:port:*, res:env:staging or res:migration:db/migrations")
	}
	if kind == Migrations {
		folder, last := path.Split(strings.TrimPrefix(path.Clean("/"+name), "/"))
		if name = folder + bareNumber(last); name == "" {
			name = "."
		}
		return kind + ":" + name, nil
	}
	return kind + ":" + bareNumber(name), nil
}

func isKind(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '-' && c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// bareNumber takes the leading zeros from a number; other text stays.
func bareNumber(s string) string {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 && s[0] != '+' {
		return strconv.FormatInt(n, 10)
	}
	return s
}

// MigrationNumber returns the resource that a new migration takes, by its path,
// and its number as the file writes it: 0043_users.sql, 0043_users.py and
// V43__users.sql in a folder of migrations.
func MigrationNumber(file string) (r Resource, digits string, ok bool) {
	folder, name := path.Split(file)
	folder = strings.TrimSuffix(folder, "/")
	switch strings.ToLower(path.Base(folder)) {
	case "migrations", "migration", "migrate":
	default:
		return r, "", false
	}
	if len(name) > 1 && (name[0] == 'V' || name[0] == 'v') {
		name = name[1:]
	}
	end := 0
	for end < len(name) && name[end] >= '0' && name[end] <= '9' {
		end++
	}
	if end == 0 || end > 18 || end == len(name) || !strings.ContainsRune("_-.", rune(name[end])) {
		return r, "", false
	}
	n, err := strconv.ParseInt(name[:end], 10, 64)
	if err != nil {
		return r, "", false
	}
	return Resource{Migrations, folder}.With(n), name[:end], true
}
