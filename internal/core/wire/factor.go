package wire

import "github.com/svc-hq/svc/internal/core/coord"

// HalfSignedIn is for somebody who has yet to show their second factor.
type HalfSignedIn struct {
	Ticket    string     `json:"ticket" doc:"For the second step, with a code or a passkey; it opens nothing else, and works once"`
	ExpiresAt coord.Time `json:"expires_at"`
	TOTP      bool       `json:"totp" doc:"It can be a code of an app"`
	Passkeys  bool       `json:"passkeys" doc:"It can be a passkey"`
}

// SecondFactor ends a sign-in.
type SecondFactor struct {
	Ticket string `json:"ticket" minLength:"1" maxLength:"100"`
	Code   string `json:"code" minLength:"1" maxLength:"40" doc:"Of the app, or a recovery code"`
}

// Factors are what somebody proves who they are with.
type Factors struct {
	TOTP          bool      `json:"totp" doc:"An app shows one-time codes"`
	Passkeys      []Passkey `json:"passkeys"`
	PasskeysOff   string    `json:"passkeys_off" doc:"Why this server can have no passkeys; empty if it can"`
	RecoveryCodes int       `json:"recovery_codes" doc:"How many are left"`
	Password      bool      `json:"password"`
	ProveWith     string    `json:"prove_with" enum:"code,passkey,password,sign_in" doc:"What a fresh proof takes; sign_in is a new sign-in"`
}

// EnrolledTOTP is the secret of a new app, shown this once.
type EnrolledTOTP struct {
	Secret  string `json:"secret" doc:"To type, where there is no camera"`
	Address string `json:"address" doc:"otpauth://, as apps read it"`
	QR      QR     `json:"qr" doc:"The address as a picture"`
}

// A QR is a picture that a phone reads.
type QR struct {
	Size int    `json:"size" doc:"Of the square, in modules, its margin included"`
	Path string `json:"path" doc:"The dark modules, as an SVG path"`
}

// Code is a one-time code.
type Code struct {
	Code string `json:"code" minLength:"1" maxLength:"40"`
}

// RecoveryCodes are new ones, shown this once.
type RecoveryCodes struct {
	Codes []string `json:"recovery_codes"`
}

// Prove is a fresh proof of who somebody is.
type Prove struct {
	Code     string         `json:"code,omitempty" maxLength:"40" doc:"Of the app, or a recovery code, where there is a second factor"`
	Passkey  map[string]any `json:"passkey,omitempty" doc:"What a passkey answered to POST /v1/auth/passkey"`
	Password string         `json:"password,omitempty" maxLength:"1024" doc:"Where there is no second factor"`
}

// A Passkey is one of somebody's.
type Passkey struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Synced     bool        `json:"synced" doc:"It may be on several devices of its owner's"`
	CreatedAt  coord.Time  `json:"created_at"`
	LastUsedAt *coord.Time `json:"last_used_at"`
	CopiedAt   *coord.Time `json:"copied_at" doc:"When its counter last went back, as if there were a copy of it"`
}

// PasskeyQuestion is what a browser hands to an authenticator. It holds for five
// minutes and for one answer.
type PasskeyQuestion struct {
	Options map[string]any `json:"options" doc:"For PublicKeyCredential.parseCreationOptionsFromJSON or parseRequestOptionsFromJSON"`
}

// AddPasskey keeps a new passkey.
type AddPasskey struct {
	Name       string         `json:"name" minLength:"1" maxLength:"60"`
	Credential map[string]any `json:"credential" required:"true" doc:"What the browser answered, by its toJSON"`
}

// AddedPasskey is a new passkey.
type AddedPasskey struct {
	Passkey       Passkey  `json:"passkey"`
	RecoveryCodes []string `json:"recovery_codes" doc:"With the first second factor; shown this once"`
}

// ShowPasskey signs in with a passkey.
type ShowPasskey struct {
	Credential map[string]any `json:"credential" required:"true" doc:"What the browser answered, by its toJSON"`
	Ticket     string         `json:"ticket,omitempty" maxLength:"100" doc:"Of a sign-in that waits for a second factor"`
}

// SetSignInRules changes what an org wants of those who sign in.
type SetSignInRules struct {
	RequireSecondFactor bool `json:"require_second_factor"`
	PasswordsOff        bool `json:"passwords_off"`
}
