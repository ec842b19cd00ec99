package store

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/svc-hq/svc/internal/core/coord"
)

// columns.tsv says of each column what may stand in it. A test holds it
// against the schema, so that a new column is thought of before it can keep
// something of a person that erasing leaves.
//
//go:embed columns.tsv
var columnsText string

// A ColumnKind is what may stand in a column.
type ColumnKind string

const (
	PlainColumn  ColumnKind = "plain"  // ids, numbers, times, words of ours
	CodeColumn   ColumnKind = "code"   // what code and repositories call things
	TextColumn   ColumnKind = "text"   // what a person or their agent wrote
	PersonColumn ColumnKind = "person" // a name, an address, a machine
	ProseColumn  ColumnKind = "prose"  // sentences and records in which names may stand
	SecretColumn ColumnKind = "secret" // hashes and what is sealed
)

// A Column is one of a table.
type Column struct {
	Table, Name string
	Kind        ColumnKind
}

// Columns returns all columns of all tables.
var Columns = sync.OnceValue(func() (out []Column) {
	for line := range strings.Lines(columnsText) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		out = append(out, Column{f[0], f[1], ColumnKind(f[2])})
	}
	return out
})

// Erased is what stands in the place of what somebody wrote.
const Erased = "erased"

// erasures take away what a person wrote, and what they sign in with. $1 is the
// person.
var erasures = []string{
	`UPDATE conversations SET subject = NULL WHERE subject IS NOT NULL AND EXISTS (SELECT 1 FROM messages m
		WHERE m.conversation_id = conversations.id AND m.from_user = $1 AND m.subject = conversations.subject)`,
	`UPDATE messages SET subject = NULL, body = 'erased' WHERE from_user = $1`,
	`UPDATE answers SET answer = 'erased' WHERE by_user = $1`,
	`UPDATE questions SET question = 'erased', about = NULL, immediate = NULL WHERE asked_user = $1`,
	`UPDATE conflict_actions SET note = NULL WHERE user_id = $1`,
	`UPDATE conflicts SET explanation = 'erased', suggestion = '' WHERE holder_user = $1 OR challenger_user = $1`,
	`UPDATE handoffs SET note = NULL WHERE from_id = $1`,
	`UPDATE intents SET title = 'erased', summary = NULL, plan_md = NULL, note = NULL, external_ref = NULL, branch = NULL, mode_note = NULL
		WHERE owner_id = $1`,
	`DELETE FROM statuses WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $1)`,
	`UPDATE sessions SET status_excerpt = NULL, branch = NULL, client = '{}', file = NULL, model = NULL, surface = NULL,
		external_id = id, worktree_hash = NULL WHERE user_id = $1`,
	`DELETE FROM told WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $1)`,
	`UPDATE tokens SET name = 'erased', hash = id, prefix = '', revoked_at = COALESCE(revoked_at, $2) WHERE user_id = $1`,
	`UPDATE tokens SET name = 'erased' WHERE user_id IS NULL AND created_by = $1`,
	`UPDATE webhooks SET description = NULL WHERE created_by = $1`,
	`DELETE FROM patches WHERE user_id = $1`,
	`UPDATE branches SET author = '', user_id = NULL WHERE user_id = $1`,
	`DELETE FROM web_sessions WHERE user_id = $1`,
	`DELETE FROM identities WHERE user_id = $1`,
	`DELETE FROM totps WHERE user_id = $1`,
	`DELETE FROM passkeys WHERE user_id = $1`,
	`DELETE FROM passkey_challenges WHERE user_id = $1`,
	`DELETE FROM recovery_codes WHERE user_id = $1`,
	`DELETE FROM half_signins WHERE user_id = $1`,
	`DELETE FROM directory_seats WHERE user_id = $1`,
	`DELETE FROM directory_users WHERE user_id = $1`,
	`DELETE FROM signin_links WHERE user_id = $1`,
	`DELETE FROM device_codes WHERE user_id = $1`,
	`DELETE FROM digest_readers WHERE user_id = $1`,
	`DELETE FROM dismissals WHERE user_id = $1`,
}

// EraseTexts takes away what a person wrote and signs in with. Answers to hooks
// that are kept for a repetition may quote it, so they go, too.
func (tx *Tx) EraseTexts(ctx context.Context, u coord.User) error {
	for _, statement := range erasures {
		args := []any{u.ID}
		if strings.Contains(statement, "$2") {
			args = append(args, tx.Now)
		}
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return err
		}
	}
	for _, statement := range addressErasures {
		arg := u.Email
		if strings.Contains(statement, "LIKE") {
			arg = like(u.Email)
		}
		if _, err := tx.ExecContext(ctx, statement, arg); err != nil {
			return err
		}
	}
	return nil
}

// addressErasures take away what is kept under a person's address. $1 is the
// address.
var addressErasures = []string{
	`DELETE FROM invites WHERE email = $1`,
	`DELETE FROM signups WHERE email = $1`,
	`DELETE FROM mail_tests WHERE email = $1`,
	`DELETE FROM rate_limits WHERE LOWER(key) LIKE $1 ESCAPE '\'`,
	`DELETE FROM hook_replies WHERE $1 <> ''`,
}

// RenameErased leaves of an account that somebody was there.
func (tx *Tx) RenameErased(ctx context.Context, user string, to coord.User) error {
	_, err := tx.ExecContext(ctx, renaming, user, to.Email, to.Name, tx.Now)
	return err
}

const renaming = `UPDATE users SET email = $2, name = $3, password_hash = NULL, oidc_subject = NULL, disabled_at = $4, erased_at = $4
	WHERE id = $1`

// CountErased returns how many people were erased.
func (tx *Tx) CountErased(ctx context.Context) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM users WHERE erased_at IS NOT NULL`)
}

// A prose is a column that is looked through for a person's name.
type prose struct {
	table, column string
	keys          []string
}

// proses are the columns in which a name may stand, by the keys of their rows.
var proses = []prose{
	{"conflicts", "parties", []string{"id"}},
	{"conflicts", "evidence", []string{"id"}},
	{"conflicts", "explanation", []string{"id"}},
	{"conflicts", "suggestion", []string{"id"}},
	{"conflicts", "resolution", []string{"id"}},
	{"conflicts", "override", []string{"id"}},
	{"conflicts", "override_requested", []string{"id"}},
	{"conflicts", "voices", []string{"id"}},
	{"conflicts", "previous", []string{"id"}},
	{"events", "payload", []string{"org_id", "seq"}},
	{"invites", "mail_detail", []string{"id"}},
	{"jobs", "payload", []string{"id"}},
	{"jobs", "last_error", []string{"id"}},
	{"jobs", "unique_key", []string{"id"}},
	{"mail_tests", "detail", []string{"org_id"}},
	{"messages", "target", []string{"id"}},
	{"messages", "body", []string{"id"}},
	{"messages", "subject", []string{"id"}},
	{"conversations", "subject", []string{"id"}},
	{"questions", "target", []string{"id"}},
	{"questions", "question", []string{"id"}},
	{"questions", "about", []string{"id"}},
	{"questions", "immediate", []string{"id"}},
	{"answers", "answer", []string{"id"}},
	{"conflict_actions", "note", []string{"id"}},
	{"handoffs", "note", []string{"id"}},
	{"intents", "title", []string{"id"}},
	{"intents", "summary", []string{"id"}},
	{"intents", "plan_md", []string{"id"}},
	{"intents", "note", []string{"id"}},
	{"intents", "mode_note", []string{"id"}},
	{"intents", "outcome", []string{"id"}},
	{"intents", "external_ref", []string{"id"}},
	{"intents", "branch", []string{"id"}},
	{"sessions", "status_excerpt", []string{"id"}},
	{"sessions", "branch", []string{"id"}},
	{"sessions", "client", []string{"id"}},
	{"sessions", "file", []string{"id"}},
	{"statuses", "excerpt", []string{"id"}},
	{"tokens", "name", []string{"id"}},
	{"told", "mark", []string{"session_id", "key"}},
	{"told", "key", []string{"session_id", "key"}},
	{"webhook_deliveries", "error", []string{"id"}},
	{"webhooks", "disabled_reason", []string{"id"}},
	{"webhooks", "description", []string{"id"}},
	{"slacks", "last_error", []string{"org_id"}},
	{"slack_repos", "last_error", []string{"id"}},
	{"github_tokens", "name", []string{"org_id"}},
	{"gitlab_tokens", "name", []string{"org_id"}},
	{"policies", "rules", []string{"org_id", "repo_id"}},
}

// EraseName takes a person's name and address out of one of the columns in which
// they may stand: in records of theirs with whatever else they said there, in
// others' sentences the words alone. It reports whether there are more columns,
// so that each can have a transaction of its own, under SealLock.
func (tx *Tx) EraseName(ctx context.Context, at int, u, to coord.User) (more bool, err error) {
	if at < 0 || at >= len(proses) {
		return false, nil
	}
	p, e := proses[at], eraser{u, to}
	key2, theirs := `''`, `''`
	if len(p.keys) > 1 {
		key2 = p.keys[1]
	}
	if p.table == "events" {
		theirs = `actor_id, subject_id`
	}
	type row struct {
		key, key2 any
		text      string
		theirs    bool
	}
	rows, err := all(ctx, tx, func(s scanner) (r row, err error) {
		err = s.Scan(&r.key, &r.key2, &r.text, &r.theirs)
		return r, err
	}, `SELECT `+p.keys[0]+`, `+key2+`, `+p.column+`, $5 IN (`+theirs+`) FROM `+p.table+` WHERE `+p.column+` LIKE $1 ESCAPE '\'
		OR LOWER(`+p.column+`) LIKE $2 ESCAPE '\' OR `+p.column+` LIKE $3 ESCAPE '\' OR `+p.column+` LIKE $4 ESCAPE '\' OR $5 IN (`+theirs+`)`,
		like(u.Name), like(u.Email), like(u.ID), like(quoted(u.Name)), u.ID)
	if err != nil {
		return false, err
	}
	for _, r := range rows {
		clean := e.clean(r.text, r.theirs)
		if clean == r.text {
			continue
		}
		if p.table == "events" {
			if err := tx.loosen(ctx, r.key, r.key2, r.text); err != nil {
				return false, err
			}
		}
		args := []any{r.key, r.text, clean}
		where := p.keys[0] + ` = $1`
		if len(p.keys) > 1 {
			where += ` AND ` + p.keys[1] + ` = $4`
			args = append(args, r.key2)
		}
		// Whoever changed it meanwhile wrote it anew.
		if _, err := tx.ExecContext(ctx, `UPDATE `+p.table+` SET `+p.column+` = $3 WHERE `+where+` AND `+p.column+` = $2`, args...); err != nil {
			return false, err
		}
	}
	return at+1 < len(proses), nil
}

// like is a pattern for what holds a text.
func like(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%"
}

// quoted is a text as it stands in JSON.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(b[1 : len(b)-1])
}

// An eraser takes a person out of texts.
type eraser struct{ from, to coord.User }

// clean takes the person out of a text, and out of the record of what they did
// where they were.
func (e eraser) clean(text string, theirs bool) string {
	var record any
	if (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Unmarshal([]byte(text), &record) == nil {
		found := e.record(record)
		if m, ok := record.(map[string]any); ok && theirs && m["address"] != nil {
			m["address"], found = Erased, true
		}
		if found {
			if b, err := json.Marshal(record, json.Deterministic(true)); err == nil {
				text = string(b)
			}
		}
		text = e.words(text, quoted(e.from.Name), quoted(e.to.Name))
	}
	return e.words(text, e.from.Name, e.to.Name)
}

func (e eraser) words(text, name, to string) string {
	return replaceWord(replaceWord(text, e.from.Email, e.to.Email, true), name, to, false)
}

// said are the parts of a record that its author wrote.
var said = []string{"title", "note", "reason", "text", "summary", "status_text", "detail", "branch", "address", "hostname"}

// record takes a person out of what was JSON, and reports whether they were
// there: as somebody's user, or as the one whom a record is by.
func (e eraser) record(v any) (found bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			found = e.record(x) || found
		}
	case map[string]any:
		if v["id"] == e.from.ID && (v["name"] != nil || v["email"] != nil) {
			v["name"], v["email"] = e.to.Name, e.to.Email
			found = true
		}
		for key, x := range v {
			inner, is := x.(map[string]any)
			if (is && inner["id"] == e.from.ID || x == e.from.ID) && key != "id" {
				found = silence(v) || found
			}
		}
		for _, x := range v {
			found = e.record(x) || found
		}
	}
	return found
}

// silence takes out of a record, and out of what is part of it, what its author
// wrote.
func silence(v map[string]any) (found bool) {
	for key, x := range v {
		if text, ok := x.(string); ok && text != "" && slices.Contains(said, key) {
			v[key], found = Erased, true
		}
		if inner, ok := x.(map[string]any); ok {
			found = silence(inner) || found
		}
	}
	return found
}

// replaceWord replaces a word wherever it does not stand within another.
func replaceWord(text, word, with string, anyCase bool) string {
	if word == "" {
		return text
	}
	in, find := text, word
	if anyCase {
		in, find = asciiLower(text), asciiLower(word)
	}
	var out strings.Builder
	for done := 0; ; {
		i := strings.Index(in[done:], find)
		if i < 0 {
			out.WriteString(text[done:])
			return out.String()
		}
		i += done
		end := i + len(find)
		out.WriteString(text[done:i])
		if within(text[:i], text[end:]) {
			out.WriteString(text[i:end])
		} else {
			out.WriteString(with)
		}
		done = end
	}
}

// within reports whether what stands between two texts is part of a longer word.
func within(before, after string) bool {
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	last, first := lastRune(before), firstRune(after)
	return letter(last) || letter(first)
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// asciiLower is lower case that keeps every byte in its place.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
