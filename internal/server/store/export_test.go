package store

// ErasureStatements returns what erasing a person runs: statements, and the
// columns that are looked through, as "table column;".
func ErasureStatements() []string {
	out := append([]string{}, erasures...)
	out = append(append(out, addressErasures...), renaming)
	for _, p := range proses {
		out = append(out, p.table+" "+p.column+";")
	}
	return out
}

// ExportedTables returns the tables that exports of an org have.
func ExportedTables() (out []string) {
	for _, r := range orgRows {
		out = append(out, r.table)
	}
	return out
}
