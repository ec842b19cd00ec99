package ground

import (
	"context"
	"encoding/json"

	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/store"
)

// JobMail is the kind of the job that sends a mail.
const JobMail = "mail"

// A MailJob says which mail to send.
type MailJob struct {
	Mail string `json:"mail"`
}

// MailOf says what the sealed content of a mail is for.
func MailOf(id string) string { return "mail " + id }

// QueueMail makes a mail be sent once tx is committed. It is sealed: it may
// hold a link that opens a door.
func (s *Ground) QueueMail(ctx context.Context, tx *store.Tx, org string, m bulletin.Mail) error {
	_, err := s.QueueLetter(ctx, tx, org, m)
	return err
}

// QueueLetter is QueueMail for those who want to know what becomes of it: it
// returns the mail's id.
func (s *Ground) QueueLetter(ctx context.Context, tx *store.Tx, org string, m bulletin.Mail) (id string, err error) {
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	id = NewID()
	sealed, err := s.Config.Vault.Seal(MailOf(id), string(text))
	if err != nil {
		return "", err
	}
	return id, FirstError(tx.InsertMail(ctx, id, org, sealed), jobs.Add(ctx, tx, jobs.New{Kind: JobMail, Org: org, Payload: MailJob{id}}))
}
