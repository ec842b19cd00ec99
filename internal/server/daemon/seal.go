package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/server/store"
)

// A backup ends with a line that holds the SHA-256 of all before it, so that a
// byte that flipped on a disk or was lost on the way is noticed before anything
// is restored. SQLite does not read beyond the pages that its header counts: a
// sealed backup opens as any other file. The header's application id says that
// the line belongs there, for a file that was cut short has none.
const (
	sealWord = "\nsvc backup sha256 "
	sealSize = len(sealWord) + 2*sha256.Size + 1
	sealID   = "svcb"
	sealIDAt = 68 // of SQLite's header: the application id
)

// seal marks and closes a backup that is complete, and returns once it is on
// the disk.
func seal(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt([]byte(sealID), sealIDAt); err != nil {
		return err
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte(sealWord+hex.EncodeToString(h.Sum(nil))+"\n"), size); err != nil {
		return err
	}
	return f.Sync()
}

// unseal copies a backup without its seal, and says whether it had one that
// holds. One of an older svcd has none; one that lost it, or does not fit it, is
// refused.
func unseal(from, to string) (sealed bool, err error) {
	in, err := os.Open(from)
	if err != nil {
		return false, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return false, err
	}
	id, end := make([]byte, len(sealID)), make([]byte, sealSize)
	size := info.Size()
	if size >= sealIDAt+int64(len(sealID))+int64(sealSize) {
		if _, err := in.ReadAt(id, sealIDAt); err != nil {
			return false, err
		}
		if _, err := in.ReadAt(end, size-int64(sealSize)); err != nil {
			return false, err
		}
	}
	sum, ended := strings.CutPrefix(string(end), sealWord)
	if sealed = ended || string(id) == sealID; sealed && !ended {
		return true, fmt.Errorf("%s is not whole: its end, with the checksum, is missing; take another backup", from)
	}
	if sealed {
		size -= int64(sealSize)
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return sealed, err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), io.NewSectionReader(in, 0, size))
	if err = errors.Join(err, out.Close()); err != nil {
		return sealed, err
	}
	if sealed && strings.TrimSuffix(sum, "\n") != hex.EncodeToString(h.Sum(nil)) {
		return true, fmt.Errorf("%s is damaged: it does not fit the checksum that it was written with; take another backup", from)
	}
	return sealed, nil
}

func unsealed(file string) func(string) (bool, error) {
	return func(work string) (bool, error) { return unseal(file, work) }
}

// opened has fn use a copy of a backup that was found sound, brought up to this
// version: the file itself stays as it is.
func opened(
	ctx context.Context, file string, copied func(work string) (sealed bool, err error), fn func(work string, rows int, sealed bool) error,
) error {
	dir, err := os.MkdirTemp("", "svcd-backup")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	work := filepath.Join(dir, "backup.db")
	sealed, err := copied(work)
	if err != nil {
		return err
	}
	st, err := store.Open(ctx, work)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	rows, err := st.Sound(ctx)
	if err = errors.Join(err, st.Close()); err != nil {
		return fmt.Errorf("%s is damaged: %w; take another backup", file, err)
	}
	return fn(work, rows, sealed)
}

// verifyBackup looks at a backup and changes nothing.
func verifyBackup(ctx context.Context, env Env, file string) error {
	if isFolder(file) {
		return verifyShipped(ctx, env, file)
	}
	return opened(ctx, file, unsealed(file), func(_ string, rows int, sealed bool) error {
		said := "is as it was written: its checksum fits and it can be read"
		if !sealed {
			said = "can be read, but carries no checksum, since an older svcd wrote it"
		}
		fmt.Fprintf(env.Stdout, "%s %s (%d rows).\n", file, said, rows)
		return nil
	})
}
