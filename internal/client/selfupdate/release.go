// Package selfupdate replaces the running program by a newer release. It
// trusts nobody but the keys compiled into it: not the server that tells of
// the release, not the place it is loaded from. Whatever fails, the program
// that was there keeps working.
package selfupdate

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

// releaseKeys holds the public keys as id=base64, comma-separated. The linker
// sets it: -X .../selfupdate.releaseKeys=2026a=.... A key is added before the
// old one is given up, so that every client in use knows one of the two.
var releaseKeys = ""

// Keys are public keys by their id.
type Keys map[string]ed25519.PublicKey

// CompiledKeys returns the keys that this build trusts.
func CompiledKeys() (Keys, error) { return ParseKeys(releaseKeys) }

// ParseKeys reads id=base64, comma-separated.
func ParseKeys(s string) (Keys, error) {
	keys := Keys{}
	for entry := range strings.SplitSeq(s, ",") {
		if entry == "" {
			continue
		}
		id, text, ok := strings.Cut(entry, "=")
		key, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil || len(key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("release key %q is not id=base64", id)
		}
		keys[id] = key
	}
	return keys, nil
}

// Sign completes a release with the signature of key.
func Sign(r wire.Release, keyID string, key ed25519.PrivateKey) (wire.Release, error) {
	text, err := r.SignedText()
	if err != nil {
		return r, err
	}
	r.KeyID, r.Signature = keyID, base64.StdEncoding.EncodeToString(ed25519.Sign(key, text))
	return r, nil
}

// ErrNoKeys means that this build was not released by anybody.
var ErrNoKeys = errors.New("this build holds no release key, so it cannot tell a real release; install a released svc instead")

// ErrUnsigned means that a server only says which version it has itself.
var ErrUnsigned = errors.New("no signed release is offered here, and others are refused")

// Verify reads a manifest and returns its release if one of keys signed it
// and it has not expired.
func (keys Keys) Verify(manifest []byte, now time.Time) (wire.Release, error) {
	var r wire.Release
	if len(keys) == 0 {
		return r, ErrNoKeys
	}
	if err := json.Unmarshal(manifest, &r); err != nil {
		return r, fmt.Errorf("the release manifest cannot be read: %w", err)
	}
	key, ok := keys[r.KeyID]
	if r.KeyID == "" {
		return r, ErrUnsigned
	}
	if !ok {
		return r, fmt.Errorf("the release is signed with key %q, which this svc does not know; refused", r.KeyID)
	}
	text, err := r.SignedText()
	if err != nil {
		return r, fmt.Errorf("the release manifest is not valid: %w", err)
	}
	sig, err := base64.StdEncoding.Strict().DecodeString(r.Signature)
	if err != nil || !ed25519.Verify(key, text, sig) {
		return r, errors.New("the release's signature is wrong: somebody changed it; refused")
	}
	if r.ExpiresAt != nil && coord.TimeOf(now) > *r.ExpiresAt {
		return r, fmt.Errorf("the release manifest expired at %s; the server offers no newer one", r.ExpiresAt)
	}
	if !semver.IsValid("v" + r.Version) {
		return r, fmt.Errorf("the release has no proper version: %q", r.Version)
	}
	return r, nil
}

// Newer reports whether r is newer than current. A developer's build is never
// older than a release.
func Newer(r wire.Release, current string) bool {
	return current != version.Development && semver.Compare("v"+r.Version, "v"+current) > 0
}
