-- What became of an invite's letter: queued, sent, bounced or refused; empty if it was not mailed. Until now only that it was
-- handed to the queue was known.
ALTER TABLE invites ADD COLUMN mail_state TEXT NOT NULL DEFAULT '';
ALTER TABLE invites ADD COLUMN mail_detail TEXT NOT NULL DEFAULT '';
ALTER TABLE invites ADD COLUMN mail_at BIGINT;
ALTER TABLE invites ADD COLUMN mail_id TEXT NOT NULL DEFAULT '';
UPDATE invites SET mail_state = 'sent', mail_at = created_at WHERE email_sent;
