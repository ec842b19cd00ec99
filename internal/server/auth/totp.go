package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// One-time codes as RFC 6238 has them, with what every app takes for granted:
// SHA-1, six digits, half a minute.
const (
	totpStep   = 30 * time.Second
	totpDigits = 6
	totpBytes  = 20
	totpDrift  = 1 // steps by which somebody's clock may be off
)

var totpAlphabet = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewTOTPSecret makes a secret for an app that shows one-time codes.
func NewTOTPSecret() string {
	b := make([]byte, totpBytes)
	rand.Read(b)
	return totpAlphabet.EncodeToString(b)
}

// TOTPAddress is what an app reads from the picture: which account at which
// issuer a secret is for.
func TOTPAddress(issuer, account, secret string) string {
	label := url.PathEscape(issuer) + ":" + url.PathEscape(account)
	return "otpauth://totp/" + label + "?issuer=" + url.QueryEscape(issuer) + "&secret=" + secret
}

// TOTPAt returns the code of a secret at a moment.
func TOTPAt(secret string, at time.Time) (string, error) {
	return totp(secret, at.Unix()/int64(totpStep/time.Second))
}

func totp(secret string, step int64) (string, error) {
	key, err := totpAlphabet.DecodeString(secret)
	if err != nil {
		return "", fmt.Errorf("the secret of one-time codes: %w", err)
	}
	m := hmac.New(sha1.New, key)
	if err := binary.Write(m, binary.BigEndian, step); err != nil {
		return "", err
	}
	sum := m.Sum(nil)
	at := sum[len(sum)-1] & 15
	return fmt.Sprintf("%0*d", totpDigits, binary.BigEndian.Uint32(sum[at:at+4])&0x7fffffff%1_000_000), nil
}

// TOTPStep returns the step whose code it is, near now and after another, or 0.
func TOTPStep(secret, code string, now coord.Time, after int64) (int64, error) {
	here := now.Std().Unix() / int64(totpStep/time.Second)
	for step := here - totpDrift; step <= here+totpDrift; step++ {
		want, err := totp(secret, step)
		if err != nil {
			return 0, err
		}
		if step > after && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return step, nil
		}
	}
	return 0, nil
}

// NewRecoveryCode makes a code for a day without the second factor. It has
// enough randomness (69 bits) that a hash of it can be kept.
func NewRecoveryCode() string {
	var b strings.Builder
	for i := range 16 {
		if i > 0 && i%4 == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(userCodeLetters[randomBelow(len(userCodeLetters))])
	}
	return b.String()
}

// Plain forgives case, spaces and dashes in a code that somebody types.
func Plain(code string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
}

// FreshFor is how long somebody who proved who they are is believed without
// being asked again before they do what matters most.
const FreshFor = 15 * time.Minute

// Fresh refuses somebody in the dashboard who has not proved of late who they
// are. A token proves itself with every call.
func Fresh(who coord.Caller, now coord.Time) error {
	if who.Via != coord.ViaCookie || now.Sub(who.ProvedAt) <= FreshFor {
		return nil
	}
	return problem.Newf(problem.ProofNeeded,
		"this needs a fresh proof that it is you: give your code, passkey or password again (POST /v1/auth/prove), then repeat this")
}
