// Package vault seals the secrets that the service must be able to read again
// (webhook secrets, chat addresses, mails that wait), so that a copy of the
// database alone gives none of them away. Secrets that are only compared are
// hashed by package auth instead.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	keySize = 32
	version = "v1"
	// FileName is the key file in the data folder.
	FileName = "secret.key"
)

// A Vault seals and opens. The first key seals; the others only open, so that
// keys can be replaced while the service runs.
type Vault struct {
	path string // of the key file; empty if the keys came from a setting

	mu      sync.Mutex
	keys    []key
	changed time.Time // of the file, when it was read
}

type key struct {
	id   string
	text string
	aead cipher.AEAD
}

// FromSetting returns a Vault with the keys in text: base64 of 32 bytes each,
// separated by commas, the one to seal with first.
func FromSetting(text string) (*Vault, error) {
	keys, err := parse(strings.Split(text, ","))
	if err != nil {
		return nil, err
	}
	return &Vault{keys: keys}, nil
}

// Open returns a Vault with the key file of a data folder, making one with a
// new key if there is none.
func Open(data string) (*Vault, error) {
	v := &Vault{path: filepath.Join(data, FileName)}
	err := v.load()
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(data, 0o700); err != nil {
			return nil, fmt.Errorf("make the data folder: %w", err)
		}
		err = v.create()
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// create makes the key file, or loads the one that another process was
// quicker to make.
func (v *Vault) create() error {
	tmp, err := writeTemp(v.path, NewKey()+"\n")
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := os.Link(tmp, v.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the key file: %w", err)
	}
	return v.load()
}

func writeTemp(path, text string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), FileName+".*") // owner-only
	if err != nil {
		return "", fmt.Errorf("make the key file: %w", err)
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("write the key file: %w", err)
	}
	return f.Name(), nil
}

func (v *Vault) load() error {
	info, err := os.Stat(v.path)
	if err != nil {
		return fmt.Errorf("read the key file: %w", err)
	}
	if loose := info.Mode().Perm() & 0o077; loose != 0 {
		return fmt.Errorf("the key file %s can be read by others (mode %#o); run chmod 600 on it", v.path, info.Mode().Perm())
	}
	text, err := os.ReadFile(v.path)
	if err != nil {
		return fmt.Errorf("read the key file: %w", err)
	}
	keys, err := parse(strings.Fields(string(text)))
	if err != nil {
		return fmt.Errorf("%s: %w", v.path, err)
	}
	v.keys, v.changed = keys, info.ModTime()
	return nil
}

// current returns the keys, read again if the file was replaced.
func (v *Vault) current() ([]key, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.path == "" {
		return v.keys, nil
	}
	if info, err := os.Stat(v.path); err == nil && !info.ModTime().Equal(v.changed) {
		if err := v.load(); err != nil {
			return nil, err
		}
	}
	return v.keys, nil
}

// NewKey returns a new key as text.
func NewKey() string {
	b := make([]byte, keySize)
	rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

func parse(texts []string) (keys []key, err error) {
	for _, text := range texts {
		text = strings.TrimSpace(text)
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw) != keySize {
			return nil, errors.New("a secret key must be 32 random bytes in base64; make one with: openssl rand -base64 32")
		}
		block, err := aes.NewCipher(raw)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("svc vault key id "), raw...))
		keys = append(keys, key{id: hex.EncodeToString(sum[:4]), text: text, aead: aead})
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return keys, nil
}

// KeyID names the key that seals now. It tells nothing about the key.
func (v *Vault) KeyID() (string, error) {
	keys, err := v.current()
	if err != nil {
		return "", err
	}
	return keys[0].id, nil
}

// Has reports whether the vault can open what the named key sealed.
func (v *Vault) Has(id string) bool {
	keys, err := v.current()
	if err != nil {
		return false
	}
	for _, k := range keys {
		if k.id == id {
			return true
		}
	}
	return false
}

// Seal encrypts text. What for is bound to it: moved to another place, say
// from one row to another, it does not open.
func (v *Vault) Seal(what, text string) (string, error) {
	keys, err := v.current()
	if err != nil {
		return "", err
	}
	k := keys[0]
	nonce := make([]byte, k.aead.NonceSize())
	rand.Read(nonce)
	sealed := k.aead.Seal(nonce, nonce, []byte(text), []byte(what))
	return version + "." + k.id + "." + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// Open decrypts what Seal returned for the same purpose.
func (v *Vault) Open(what, sealed string) (string, error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != version {
		return "", errors.New("this is not a sealed secret")
	}
	raw, err := base64.RawStdEncoding.Strict().DecodeString(parts[2])
	if err != nil || strings.ContainsAny(sealed, "\r\n") { // which the decoder would skip: one secret, one spelling
		return "", errors.New("this sealed secret is damaged")
	}
	keys, err := v.current()
	if err != nil {
		return "", err
	}
	for _, k := range keys {
		if k.id != parts[1] {
			continue
		}
		n := k.aead.NonceSize()
		if len(raw) < n {
			return "", errors.New("this sealed secret is damaged")
		}
		text, err := k.aead.Open(nil, raw[:n], raw[n:], []byte(what))
		if err != nil {
			return "", errors.New("this sealed secret was changed or belongs elsewhere")
		}
		return string(text), nil
	}
	return "", fmt.Errorf("this secret was sealed with the key %s, which this server does not have", parts[1])
}

// KeyOf returns the id of the key that sealed a secret, empty if it is none.
func KeyOf(sealed string) string {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != version {
		return ""
	}
	return parts[1]
}

// Rotate puts a new key in front of the key file; the old ones stay, to open
// what they sealed. A vault from a setting is rotated by its operator.
func (v *Vault) Rotate() error {
	return v.rewrite(func(keys []string) []string { return append([]string{NewKey()}, keys...) })
}

// Prune drops the keys that are no longer needed once every secret is sealed
// with the first. The second stays for what a running server sealed while the
// key was being replaced.
func (v *Vault) Prune() error {
	return v.rewrite(func(keys []string) []string { return keys[:min(2, len(keys))] })
}

// FromFile reports whether the keys are in a file that the service keeps.
func (v *Vault) FromFile() bool { return v.path != "" }

func (v *Vault) rewrite(change func([]string) []string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.path == "" {
		return errors.New("the key comes from SVC_SECRET_KEY: put a new one in front of it, separated by a comma, restart, and run " +
			"svcd rotate-key")
	}
	var texts []string
	for _, k := range v.keys {
		texts = append(texts, k.text)
	}
	tmp, err := writeTemp(v.path, strings.Join(change(texts), "\n")+"\n")
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, v.path); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("replace the key file: %w", err)
	}
	return v.load()
}
