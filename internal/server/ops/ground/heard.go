package ground

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/store"
)

// HeardPrefix begins the key under which a session's notes say what it heard of
// a conflict.
const HeardPrefix = "conflict "

// HeardKey is the key of what a session heard of a conflict.
func HeardKey(fingerprint string) string { return HeardPrefix + fingerprint }

// HeardMark writes down what a session heard.
func HeardMark(h engine.Heard) string {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // texts and lists of them
	}
	return string(text)
}

// ReadHeard reads what a session heard, or nil if it heard nothing.
func ReadHeard(told map[string]string, key string) *engine.Heard {
	mark, ok := told[key]
	if !ok {
		return nil
	}
	var h engine.Heard
	if json.Unmarshal([]byte(mark), &h) != nil { // written before there were turning points
		severity, keys, _ := strings.Cut(mark, " ")
		h = engine.Heard{Severity: coord.Severity(severity), Keys: strings.Split(keys, "\n")}
	}
	return &h
}

// HeardRow is what one side hears of a conflict as it is stored.
func HeardRow(row store.ConflictRow, worker string) engine.Heard {
	other, owner := row.Holder, row.HolderUser
	if worker == row.Holder {
		other, owner = row.Challenger, row.ChallengerUser
	}
	if other == "" { // code that nobody is at work on is handed to nobody
		owner = ""
	}
	return engine.Heard{Ref: row.Ref, Severity: row.Severity, Keys: row.Keys, Forms: engine.FormsOf(row.Evidence), Owner: owner,
		Gone: row.Voices.Gone && worker != row.Holder}
}

// Heard notes that a session was told of conflicts in an answer of ours.
func (c *Change) Heard(ctx context.Context, session, worker string, rows []store.ConflictRow) error {
	for _, row := range rows {
		h := HeardRow(row, worker)
		h.Over = !row.Status.Live()
		if err := c.Tell(ctx, session, HeardKey(row.Fingerprint), HeardMark(h)); err != nil {
			return err
		}
	}
	return nil
}
