package wire

import "github.com/svc-hq/svc/internal/core/coord"

// HalfSignedIn is for somebody who has yet to show their second factor.
type HalfSignedIn struct {
	Ticket    string     `json:"ticket" doc:"For POST /v1/auth/second-factor; it opens nothing else, and works once"`
	ExpiresAt coord.Time `json:"expires_at"`
}

// SecondFactor ends a sign-in.
type SecondFactor struct {
	Ticket string `json:"ticket" minLength:"1" maxLength:"100"`
	Code   string `json:"code" minLength:"1" maxLength:"40" doc:"Of the app, or a recovery code"`
}

// Factors are what somebody proves who they are with.
type Factors struct {
	TOTP          bool   `json:"totp" doc:"An app shows one-time codes"`
	RecoveryCodes int    `json:"recovery_codes" doc:"How many are left"`
	Password      bool   `json:"password"`
	ProveWith     string `json:"prove_with" enum:"code,password,sign_in" doc:"What a fresh proof takes; sign_in is to sign in again"`
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
	Code     string `json:"code,omitempty" maxLength:"40" doc:"Of the app, or a recovery code, where there is a second factor"`
	Password string `json:"password,omitempty" maxLength:"1024" doc:"Where there is none"`
}

// SetSignInRules changes what an org wants of those who sign in.
type SetSignInRules struct {
	RequireSecondFactor bool `json:"require_second_factor"`
	PasswordsOff        bool `json:"passwords_off"`
}
