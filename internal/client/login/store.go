package login

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/svc-hq/svc/internal/client/plain"
)

// A Store is the folder that holds the config file and the client's other
// files.
type Store struct {
	Dir string
	own bool // we chose the folder, so its mode is ours to set
	// Patience is how long to wait for the keychain, if it holds the token;
	// 0 for long enough to type a password.
	Patience time.Duration
	// Told hears of a file that was damaged and has been mended; nil for nobody.
	Told func(string)
}

const configName = "config.json"

// Locate returns the store that SVC_CONFIG_DIR names, else the one in the
// user's config directory.
func Locate(getenv func(string) string) (Store, error) {
	if dir := getenv("SVC_CONFIG_DIR"); dir != "" {
		abs, err := filepath.Abs(dir)
		return Store{Dir: abs}, err
	}
	base, err := os.UserConfigDir()
	if err != nil {
		return Store{}, fmt.Errorf("no config directory: %w; set SVC_CONFIG_DIR", err)
	}
	return Store{Dir: filepath.Join(base, "svc"), own: true}, nil
}

// Home returns the user's home folder, "" if the environment names none.
// Windows has another name for it.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
}

// Path returns where the config file is.
func (s Store) Path() string { return filepath.Join(s.Dir, configName) }

// Load reads the config file, and the keychain if the token is there; without
// a file it returns an empty Config. A file that others may read is set right
// first; one that cannot be is refused.
func (s Store) Load() (Config, error) {
	c, err := s.LoadFile()
	if err == nil && c.Keychain {
		c.Token, err = s.fromKeychain(c)
	}
	return c, err
}

// LoadFile is Load without the keychain.
func (s Store) LoadFile() (Config, error) {
	if err := s.checkDir(); err != nil {
		return Config{}, err
	}
	c, err := s.readFile()
	if err != nil {
		return c, err
	}
	return s.restore(c), nil
}

func (s Store) readFile() (c Config, err error) {
	f, err := s.open()
	for range 3 {
		if !errors.Is(err, errSwapped) {
			break
		}
		f, err = s.open()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return c, err
	}
	if c, err = parse(data); err != nil {
		return Config{}, fmt.Errorf("%s is %w (%v); repair it, or delete it and run svc login", s.Path(), plain.ErrDamaged, err)
	}
	return c, nil
}

// errSwapped means that the file was replaced between the look and the
// opening, which a login in another terminal does.
var errSwapped = errors.New("the file changed while it was opened")

func (s Store) open() (*os.File, error) {
	info, err := os.Lstat(s.Path())
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %w: it is not a plain file, and svc refuses to follow links to credentials", s.Path(), plain.ErrDamaged)
	}
	f, err := plain.Handle(s.Path(), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	// The file that was opened, not the name: it may have been swapped.
	now, err := f.Stat()
	if err == nil && !os.SameFile(info, now) {
		err = fmt.Errorf("%s: %w", s.Path(), errSwapped)
	}
	if err == nil && hasModes && now.Mode().Perm()&0o077 != 0 {
		if f.Chmod(0o600) != nil {
			err = fmt.Errorf("%s may be read by others (mode %#o) and cannot be changed; run chmod 600 on it", s.Path(), now.Mode().Perm())
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Exposed returns the mode of the config file where others may read it, until
// it is loaded, which sets that right; and 0 where they may not.
func (s Store) Exposed() fs.FileMode {
	info, err := os.Lstat(s.Path())
	if err != nil || !hasModes || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return 0
	}
	return info.Mode().Perm()
}

// Writable reports why the folder takes no file, if so.
func (s Store) Writable() error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.Dir, ".try-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("svc doctor\n")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// hasModes is false where a file's mode says nothing about who may read it.
const hasModes = runtime.GOOS != "windows"

// checkDir refuses a folder in which others could swap the file, and sets
// our own folder's mode right.
func (s Store) checkDir() error {
	info, err := os.Lstat(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder (a link is refused, too); set SVC_CONFIG_DIR to the real one", s.Dir)
	}
	perm := info.Mode().Perm()
	if !hasModes || perm&0o077 == 0 {
		return nil
	}
	if s.own && os.Chmod(s.Dir, 0o700) == nil {
		return nil
	}
	if perm&0o022 != 0 {
		return fmt.Errorf("others may write to %s (mode %#o); run chmod 700 on it", s.Dir, perm)
	}
	return nil
}

// Save writes the config file in one step: a reader sees the old or the new
// one, whole. A machine id is made if there is none. A token for the keychain
// goes there first; one that an earlier login left there is removed if the
// keychain can be reached, since a user may log in anew because it cannot.
func (s Store) Save(c Config) error {
	if c.MachineID == "" {
		c.MachineID = NewUUID()
	}
	if c.Keychain {
		if err := toKeychain(c); err != nil {
			return err
		}
		c.Token = ""
	} else if old, err := s.LoadFile(); err == nil && old.Keychain {
		_ = leaveKeychain(old)
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	if lock, ok := plain.LockWithin(filepath.Join(s.Dir, configLock), lockWait); ok {
		defer lock.Close()
	}
	if err := s.writeConfig(configName, c); err != nil {
		return err
	}
	return s.writeConfig(configCopy, c)
}

// Machine returns this machine's id and makes one if there is none: where
// server and token come from the environment, nobody ever logged in. Without a
// folder to keep it in there is none.
func (s Store) Machine() string {
	c, err := s.LoadFile()
	if err == nil && c.MachineID == "" {
		c.MachineID = NewUUID()
		err = s.Save(c)
	}
	if err != nil {
		return ""
	}
	return c.MachineID
}

// WriteFile writes one of the client's files, readable by its owner only. It
// makes the folder if need be and never follows a link.
func (s Store) WriteFile(name string, data []byte) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	if err := s.checkDir(); err != nil {
		return err
	}
	path := filepath.Join(s.Dir, name)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file; svc refuses to replace it", path)
	}
	f, err := os.CreateTemp(s.Dir, "."+name+"-*") // O_EXCL, 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err == nil && hasModes {
		err = f.Chmod(0o600)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ReadFile reads one of the client's files.
func (s Store) ReadFile(name string) ([]byte, error) {
	return plain.Read(filepath.Join(s.Dir, name), plain.State)
}

// Forget removes the credentials. Server and machine id stay: the next login
// most likely goes to the same place from the same machine.
func (s Store) Forget() (had bool, err error) {
	c, err := s.LoadFile()
	if err != nil || c.Token == "" && !c.Keychain {
		return false, err
	}
	if c.Keychain {
		if err := leaveKeychain(c); err != nil {
			return true, fmt.Errorf("the keychain did not give the token up (%w); unlock it and try again", err)
		}
	}
	return true, s.Save(Config{Server: c.Server, MachineID: c.MachineID})
}

// NewUUID returns a random UUID. The usual module would link a database
// interface into the client, which pays for it at every start.
func NewUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
