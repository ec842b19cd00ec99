// Package auth turns a bearer token or a cookie into a Caller, and makes the
// secrets that prove identity. Of every secret only a hash is stored.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
)

// TokenPrefix begins every token, so that scanners recognise a leaked one.
const TokenPrefix = "svc_"

const (
	randomBytes = 28 // 224 bits
	tokenBytes  = randomBytes + 4
	tokenLength = len(TokenPrefix) + 43
)

// A Secret is a new credential: the text for its owner and what we keep.
type Secret struct {
	Text   string
	Hash   string
	Prefix string // enough to recognise it in a list
}

// NewToken makes an API token: 28 random bytes and their checksum. The
// checksum lets us refuse junk without asking the database.
func NewToken() Secret {
	b := make([]byte, tokenBytes)
	rand.Read(b)
	binary.BigEndian.PutUint32(b[randomBytes:], checksum(b[:randomBytes]))
	text := TokenPrefix + base64.RawURLEncoding.EncodeToString(b)
	return Secret{text, HashOf(text), text[:len(TokenPrefix)+6]}
}

func checksum(b []byte) uint32 {
	return crc32.ChecksumIEEE(append([]byte(TokenPrefix), b...))
}

// WellFormed reports whether s can be a token: the canonical spelling of a
// random part with its checksum.
func WellFormed(s string) bool {
	if len(s) != tokenLength || !strings.HasPrefix(s, TokenPrefix) || strings.ContainsAny(s, "\r\n") {
		return false
	}
	// Strict: the default decoder takes four spellings of the last character.
	b, err := base64.RawURLEncoding.Strict().DecodeString(s[len(TokenPrefix):])
	return err == nil && binary.BigEndian.Uint32(b[randomBytes:]) == checksum(b[:randomBytes])
}

// NewSecret makes a secret for cookies, invites and device codes: 256 bits.
func NewSecret() Secret {
	b := make([]byte, 32)
	rand.Read(b)
	text := base64.RawURLEncoding.EncodeToString(b)
	return Secret{text, HashOf(text), text[:6]}
}

// HashOf is the form in which secrets are stored and looked up. They hold
// enough randomness to need no salt.
func HashOf(secret string) string {
	hash := sum(secret)
	return hex.EncodeToString(hash[:])
}

func sum(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// userCodeLetters has no vowels, so that no words come out, and nothing that
// looks like a digit.
const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"

// NewUserCode makes the code a person types to approve a device: BCDF-GHJK.
func NewUserCode() string {
	var b strings.Builder
	for i := range 8 {
		if i == 4 {
			b.WriteByte('-')
		}
		b.WriteByte(userCodeLetters[randomBelow(len(userCodeLetters))])
	}
	return b.String()
}

// randomBelow returns a uniform number below n, at most 256.
func randomBelow(n int) int {
	var b [1]byte
	for limit := 256 - 256%n; ; {
		rand.Read(b[:])
		if int(b[0]) < limit {
			return int(b[0]) % n
		}
	}
}

// CanonicalUserCode forgives case, spaces and a missing dash.
func CanonicalUserCode(s string) string {
	s = Plain(s)
	if len(s) != 8 {
		return s
	}
	return s[:4] + "-" + s[4:]
}
