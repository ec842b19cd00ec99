package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/svc-hq/svc/internal/core/problem"
)

// argon2id at the floor that OWASP recommends.
const (
	argonTime    = 2
	argonThreads = 1
	saltBytes    = 16
	keyBytes     = 32
)

// argonMemory is in KiB.
var argonMemory uint32 = 19456

// HashCheaply takes the cost out of passwords, for tests of the service, which
// sign in hundreds of times. Only daemontest calls it.
func HashCheaply() { argonMemory = 8 }

// Limits of a password, in characters.
const (
	MinPassword = 12
	MaxPassword = 256
)

//go:embed common_passwords.txt
var commonPasswords string

// CheckNewPassword reports what is wrong with a password somebody chose.
// There are no composition rules: length and not being everybody's choice
// are what counts.
func CheckNewPassword(path, password, email string) error {
	n := utf8.RuneCountInString(password)
	lower := strings.ToLower(password)
	local, _, _ := strings.Cut(strings.ToLower(email), "@")
	switch {
	case n < MinPassword:
		return problem.InvalidField(path, "must be at least %d characters, is %d", MinPassword, n)
	case n > MaxPassword:
		return problem.InvalidField(path, "must be at most %d characters, is %d", MaxPassword, n)
	case strings.Contains("\n"+commonPasswords, "\n"+lower+"\n"):
		return problem.InvalidField(path, "is one of the most common passwords; choose another")
	case local != "" && strings.Trim(lower, local+"@0123456789!") == "":
		return problem.InvalidField(path, "is too close to your email address; choose another")
	}
	return nil
}

// slots bounds how many hashes run at once: each takes 19 MiB, and a flood of
// sign-ins must not starve the hooks.
var slots = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)))

func withSlot(ctx context.Context, fn func()) error {
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
		fn()
		return nil
	case <-wait.Done():
		return &problem.Error{Kind: problem.Unavailable, Detail: "too many sign-ins at once; try again", RetryAfter: 5 * time.Second}
	}
}

// HashPassword returns the stored form of a password.
func HashPassword(ctx context.Context, password string) (hash string, err error) {
	salt := make([]byte, saltBytes)
	rand.Read(salt)
	err = withSlot(ctx, func() {
		key := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, keyBytes)
		hash = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
			base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
	})
	return hash, err
}

// decoy is compared with when there is no account, so that an unknown address
// takes as long as a wrong password.
func decoy() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		argon2.Version, argonMemory, argonTime, argonThreads)
}

// VerifyPassword reports whether password belongs to hash. With a nil hash it
// takes the same time and says no.
func VerifyPassword(ctx context.Context, hash *string, password string) (ok bool, err error) {
	stored := decoy()
	if hash != nil {
		stored = *hash
	}
	parts := strings.Split(stored, "$")
	if len(parts) != 6 {
		return false, fmt.Errorf("stored password hash has %d parts", len(parts))
	}
	var memory, passes uint32
	var threads uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &threads); err != nil {
		return false, fmt.Errorf("stored password hash: %w", err)
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[4])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil {
		return false, fmt.Errorf("stored password hash is not base64")
	}
	err = withSlot(ctx, func() {
		got := argon2.IDKey([]byte(password), salt, passes, memory, threads, uint32(len(want)))
		ok = subtle.ConstantTimeCompare(got, want) == 1 && hash != nil
	})
	return ok, err
}
