package store

import "context"

// sealed lists the columns that hold sealed secrets. What a secret is for is
// the purpose and the row's id.
var sealed = []struct{ table, id, column, purpose string }{
	{"webhooks", "id", "secret", "webhook"},
	{"webhooks", "id", "old_secret", "webhook"},
	{"slacks", "org_id", "url", "slack"},
	{"slack_repos", "id", "url", "slack"},
	{"mails", "id", "content", "mail"},
	{"github_apps", "id", "secrets", "github"},
	{"gitlab_hooks", "id", "secret", "gitlab"},
	{"gitlab_tokens", "org_id", "token", "gitlab token"},
	{"github_hooks", "id", "secret", "github hook"},
	{"github_tokens", "org_id", "token", "github token"},
	{"totps", "user_id", "secret", "totp"},
}

// Reseal passes every sealed secret through seal, for a change of keys, and
// returns how many there were.
func (tx *Tx) Reseal(ctx context.Context, seal func(what, sealed string) (string, error)) (n int, err error) {
	for _, c := range sealed {
		rows, err := all(ctx, tx, func(r scanner) (kv [2]string, err error) {
			err = r.Scan(&kv[0], &kv[1])
			return kv, err
		}, `SELECT `+c.id+`, `+c.column+` FROM `+c.table+` WHERE `+c.column+` <> ''`)
		if err != nil {
			return n, err
		}
		for _, kv := range rows {
			fresh, err := seal(c.purpose+" "+kv[0], kv[1])
			if err != nil {
				return n, err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE `+c.table+` SET `+c.column+` = $2 WHERE `+c.id+` = $1`, kv[0], fresh); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
