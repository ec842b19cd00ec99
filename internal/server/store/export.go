package store

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// rowsOf says which rows of a table are somebody's.
type rowsOf struct{ table, where string }

// personRows are what is kept about one person.
var personRows = []rowsOf{
	{"users", `id = $1`},
	{"members", `user_id = $1`},
	{"identities", `user_id = $1`},
	{"directory_users", `user_id = $1`},
	{"directory_seats", `user_id = $1`},
	{"web_sessions", `user_id = $1`},
	{"totps", `user_id = $1`},
	{"passkeys", `user_id = $1`},
	{"device_codes", `user_id = $1`},
	{"tokens", `user_id = $1 OR created_by = $1`},
	{"invites", `created_by = $1 OR email = (SELECT email FROM users WHERE id = $1)`},
	{"sessions", `user_id = $1`},
	{"statuses", `session_id IN (SELECT id FROM sessions WHERE user_id = $1)`},
	{"intents", `owner_id = $1`},
	{"handoffs", `from_id = $1 OR to_id = $1`},
	{"branches", `user_id = $1`},
	{"conflicts", `holder_user = $1 OR challenger_user = $1`},
	{"conflict_actions", `user_id = $1`},
	{"conflict_feedback", `user_id = $1`},
	{"messages", `from_user = $1`},
	{"message_recipients", `user_id = $1`},
	{"questions", `asked_user = $1 OR to_user = $1`},
	{"answers", `by_user = $1`},
	{"contracts", `changed_by = $1`},
	{"webhooks", `created_by = $1`},
	{"active_developers", `user_id = $1`},
	{"daily_sums", `user_id = $1`},
	{"digest_readers", `user_id = $1`},
	{"dismissals", `user_id = $1`},
	{"events", `actor_id = $1 OR subject_id = $1`},
}

// orgRows are what is kept about an org. Tables that are not here hold only what
// passes: jobs, letters that wait, answers kept for a repetition, sign-ins of
// people, who may be in several orgs, and the server's own notes.
var orgRows = append([]rowsOf{
	{"orgs", `id = $1`},
	{"users", `id IN (SELECT user_id FROM members WHERE org_id = $1)`},
	{"repo_files", `repo_id IN (SELECT id FROM repos WHERE org_id = $1)`},
	{"repo_packages", `repo_id IN (SELECT id FROM repos WHERE org_id = $1)`},
	{"resource_numbers", `repo_id IN (SELECT id FROM repos WHERE org_id = $1)`},
	{"project_repos", `project_id IN (SELECT id FROM projects WHERE org_id = $1)`},
	{"intent_deps", `intent_id IN (SELECT id FROM intents WHERE org_id = $1)`},
	{"conflict_actions", `conflict_id IN (SELECT id FROM conflicts WHERE org_id = $1)`},
	{"conflict_feedback", `conflict_id IN (SELECT id FROM conflicts WHERE org_id = $1)`},
	{"conversation_members", `conversation_id IN (SELECT id FROM conversations WHERE org_id = $1)`},
	{"deliveries", `message_id IN (SELECT id FROM messages WHERE org_id = $1)`},
	{"answers", `question_id IN (SELECT id FROM questions WHERE org_id = $1)`},
	{"directory_seats", `group_id IN (SELECT id FROM directory_groups WHERE org_id = $1)`},
	{"github_installations", `app IN (SELECT id FROM github_apps WHERE org_id = $1)`},
}, ofOrg("members", "directory_users", "directory_groups",
	"tokens", "invites", "repos", "repo_remotes", "repo_names", "repo_roots", "repo_twins", "projects", "policies",
	"sessions", "statuses", "intents", "handoffs", "changes", "merged_changes", "line_maps", "contracts", "conflicts", "conversations",
	"messages", "message_recipients", "questions", "webhooks", "webhook_deliveries", "github_apps", "github_hooks", "github_tokens",
	"gitlab_hooks", "gitlab_tokens", "pulls", "branches", "slacks", "slack_repos", "chat_manners", "digests", "digest_readers", "digest_runs",
	"dismissals",
	"active_developers", "daily_sums", "daily_sums_until", "plan_notices", "subscriptions", "events",
	"event_seals", "event_heads")...)

func ofOrg(tables ...string) (out []rowsOf) {
	for _, t := range tables {
		out = append(out, rowsOf{t, `org_id = $1`})
	}
	return out
}

// An Exported row is one of a table, without secrets.
type Exported struct {
	Table string         `json:"table"`
	Row   map[string]any `json:"row"`
}

// Size is about how many bytes a row takes.
func (e Exported) Size() (n int) {
	for name, v := range e.Row {
		switch n += len(name) + 16; v := v.(type) {
		case string:
			n += len(v)
		case jsontext.Value:
			n += len(v)
		}
	}
	return n
}

// ExportPerson calls fn with each row about a person.
func (tx *Tx) ExportPerson(ctx context.Context, user string, fn func(Exported) error) error {
	return tx.export(ctx, personRows, fn, user)
}

// notPrivate are the rows that others than those who took part may see.
var notPrivate = map[string]string{
	"messages":  ` AND conversation_id IN (SELECT id FROM conversations WHERE kind <> 'direct')`,
	"questions": ` AND NOT private`,
	"answers":   ` AND question_id IN (SELECT id FROM questions WHERE NOT private)`,
}

// ExportMember calls fn with each row of an org about a person. To themselves
// (own) these are also what they wrote to single people and what they sign in
// with, which is in no org.
func (tx *Tx) ExportMember(ctx context.Context, org, user string, own bool, fn func(Exported) error) error {
	inOrg := map[string]string{}
	for _, part := range orgRows {
		inOrg[part.table] = strings.ReplaceAll(part.where, "$1", "$2")
	}
	var here, nowhere []rowsOf
	for _, part := range personRows {
		if where, is := inOrg[part.table]; is {
			where = `(` + part.where + `) AND ` + where
			if !own {
				where += notPrivate[part.table]
			}
			here = append(here, rowsOf{part.table, where})
		} else if own {
			nowhere = append(nowhere, part)
		}
	}
	if err := tx.export(ctx, here, fn, user, org); err != nil {
		return err
	}
	return tx.export(ctx, nowhere, fn, user)
}

// ExportOrg calls fn with each row of an org.
func (tx *Tx) ExportOrg(ctx context.Context, org string, fn func(Exported) error) error {
	return tx.export(ctx, orgRows, fn, org)
}

func (tx *Tx) export(ctx context.Context, from []rowsOf, fn func(Exported) error, of ...any) error {
	columns := map[string][]string{}
	for _, c := range Columns() {
		if c.Kind != SecretColumn {
			columns[c.Table] = append(columns[c.Table], c.Name)
		}
	}
	for _, part := range from {
		if err := tx.exportTable(ctx, part, columns[part.table], fn, of); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) exportTable(ctx context.Context, part rowsOf, names []string, fn func(Exported) error, of []any) error {
	rows, err := tx.QueryContext(ctx, `SELECT `+strings.Join(names, ", ")+` FROM `+part.table+` WHERE `+part.where, of...)
	if err != nil {
		return err
	}
	defer rows.Close()
	values, to := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		row := map[string]any{}
		for i, name := range names {
			row[name] = exported(values[i])
		}
		if err := fn(Exported{part.table, row}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// exported is a value as a line shows it: what is JSON in the database is JSON
// there.
func exported(v any) any {
	text, ok := v.(string)
	if b, is := v.([]byte); is {
		text, ok = string(b), true
	}
	if !ok {
		return v
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if raw := jsontext.Value(text); raw.IsValid() {
			return raw
		}
	}
	return text
}
