package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/api"
)

// small is how much of a body that anybody may send is taken into memory as it
// arrives. Webhooks of git hosts come through a public door, and those of large
// pushes have up to 25 MB: such a body waits on disk until it is whole, and few
// of them are in memory at a time, whoever sends how many.
const small = 1 << 20

// large are the places for bodies that were on disk.
var large = make(chan struct{}, 2)

// readRaw reads the body of a request that is signed.
func readRaw(w http.ResponseWriter, r *http.Request, op *api.Op) ([]byte, error) {
	if op.MaxBody <= small || 0 < r.ContentLength && r.ContentLength <= small {
		return readLimited(w, r, op, new([]byte))
	}
	if err := plainBody(r); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("", "svcd-body-")
	if err != nil {
		return nil, noDisk(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	kept := onDisk{f: f}
	switch _, err := io.Copy(&kept, http.MaxBytesReader(w, r.Body, op.MaxBody)); {
	case kept.err != nil:
		return nil, noDisk(kept.err)
	case err != nil:
		return nil, unread(err, op.MaxBody)
	}
	if done := r.Context().Done(); done != nil {
		select {
		case large <- struct{}{}:
			context.AfterFunc(r.Context(), func() { <-large }) // when it is answered
		case <-done:
			return nil, r.Context().Err()
		}
	}
	body, err := os.ReadFile(f.Name())
	if err != nil {
		return nil, noDisk(err)
	}
	return body, nil
}

// onDisk remembers whether it was the disk that failed, and not the sender.
type onDisk struct {
	f   *os.File
	err error
}

func (d *onDisk) Write(p []byte) (n int, err error) {
	n, err = d.f.Write(p)
	d.err = err
	return n, err
}

func noDisk(err error) error {
	return errors.Join(problem.Newf(problem.Unavailable, "there is no room on disk for the body; try again later"), err)
}
