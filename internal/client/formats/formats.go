// Package formats reads documents and texts that are contracts by themselves:
// OpenAPI, protobuf, GraphQL, SQL, Prisma, settings. It needs no rules and sees
// one document at a time.
package formats

import (
	"bytes"
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// reads returns what reads a kind of file that is itself a contract, nil for
// others. What it returns is not ok where the file does not parse.
func reads(l rules.Language) func(source []byte, file string) (found []contract.Contract, ok bool) {
	switch l.Name {
	case "protobuf":
		return readProto
	case "graphql":
		return readGraphQL
	case "sql":
		return readSQL
	case "prisma":
		return readPrisma
	case "env":
		return readEnv
	case "yaml", "json":
		return Document
	case "play":
		return readPlay
	case "smithy":
		return readSmithy
	}
	return nil
}

// Has tells whether a file may be a contract by itself.
func Has(l rules.Language) bool { return reads(l) != nil }

// Read reads the contracts of such a file. It reports false when the
// file does not parse.
func Read(source []byte, file string, l rules.Language) ([]contract.Contract, bool) {
	if read := reads(l); read != nil {
		return read(source, file)
	}
	return nil, true
}

// sqlDown begins the part of a migration that takes it back.
var sqlDown = lazy.Regexp(`(?mi)^\s*--\s*(\+goose\s+down|migrate:down|!downs|\+migrate\s+down|@undo|rollback)\b`)

// readSQL reads a schema or a migration. What only takes a migration back
// never runs unless something went wrong, and says nothing of the future.
func readSQL(source []byte, file string) ([]contract.Contract, bool) {
	if base := path.Base(file); strings.HasSuffix(base, ".down.sql") || base == "down.sql" {
		return nil, true
	}
	if at := sqlDown.Get().FindIndex(source); at != nil {
		source = source[:at[0]]
	}
	return sqlContracts(string(source), 0), true
}

var envLine = lazy.Regexp(`^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=`)

// readEnv finds the names that an env file gives. Values are never looked at.
func readEnv(source []byte, _ string) ([]contract.Contract, bool) {
	var out []contract.Contract
	line := 0
	for l := range bytes.Lines(source) {
		line++
		if m := envLine.Get().FindSubmatch(l); m != nil {
			if c, ok := contract.New("config:"+string(m[1]), coord.Provides, line); ok {
				out = append(out, c)
			}
		}
	}
	return out, true
}

var (
	prismaModel = lazy.Regexp(`^\s*(model|view|enum)\s+(\w+)\s*\{`)
	prismaField = lazy.Regexp(`^\s*(\w+)\s+(\w+)(\[\])?(\?)?(.*)$`)
	prismaMap   = lazy.Regexp(`@map\(\s*(?:name:\s*)?"([^"]+)"`)
	prismaTable = lazy.Regexp(`^\s*@@map\(\s*(?:name:\s*)?"([^"]+)"`)
)

// readPrisma reads the models of a Prisma schema as tables.
func readPrisma(source []byte, _ string) ([]contract.Contract, bool) {
	models := map[string]bool{}
	for l := range strings.Lines(string(source)) {
		if m := prismaModel.Get().FindStringSubmatch(l); m != nil && m[1] != "enum" {
			models[m[2]] = true
		}
	}
	var out []contract.Contract
	var table string
	var cols []contract.Prop
	start, line, open := 0, 0, false
	for l := range strings.Lines(string(source)) {
		line++
		l, _, _ = strings.Cut(strings.TrimRight(l, "\r\n"), "//")
		if m := prismaModel.Get().FindStringSubmatch(l); m != nil {
			table, cols, start, open = m[2], nil, line, m[1] != "enum"
			continue
		}
		if !open {
			continue
		}
		if strings.TrimSpace(l) == "}" {
			if c, ok := contract.New("db:"+table, coord.Provides, start); ok {
				c.Shape.Out = cols
				out = append(out, c)
			}
			open = false
			continue
		}
		if m := prismaTable.Get().FindStringSubmatch(l); m != nil {
			table = m[1]
		} else if m := prismaField.Get().FindStringSubmatch(l); m != nil && !models[m[2]] {
			p := contract.Prop{Name: m[1], Typ: m[2] + m[3], Required: m[4] == ""}
			if n := prismaMap.Get().FindStringSubmatch(m[5]); n != nil {
				p.Name = n[1]
			}
			if p.Required && !strings.Contains(m[5], "@default") && !strings.Contains(m[5], "@id") && !strings.Contains(m[5], "@updatedAt") &&
				m[3] == "" {
				p.Typ += "!"
			}
			cols = append(cols, p)
		}
	}
	return out, true
}
