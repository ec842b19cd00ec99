package notify

// A Mailer sends mail.
type Mailer struct{}
