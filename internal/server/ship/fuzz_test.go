package ship

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/server/store/db"
)

// sealedAs is a part of whatever text, with lengths and a checksum that fit.
func sealedAs(about, body []byte) []byte {
	text := append([]byte(magic), binary.BigEndian.AppendUint32(nil, uint32(len(about)))...)
	text = append(append(binary.BigEndian.AppendUint32(text, uint32(len(body))), about...), body...)
	sum := sha256.Sum256(text)
	return append(text, sum[:]...)
}

// Whatever stands in a folder, reading it ends with an answer: nothing in a file
// is believed before it is checked, and a checksum says nothing of what it is of.
func FuzzParts(f *testing.F) {
	page := bytes.Repeat([]byte("page"), 128)
	h := head{Database: "D", Chain: "C", Number: 1, Before: "C", Time: time.Unix(1, 0).UTC(), PageSize: 512, Size: 2, Base: 1, Last: true}
	p := newPack()
	p.add(1, page)
	p.add(2, page)
	whole, sum, err := p.sealed(h)
	if err != nil {
		f.Fatal(err)
	}
	h.Number, h.Base, h.Last = 2, 0, false
	next, _, err := packed(db.Changes{Pages: map[uint32][]byte{2: page}}).sealed(h)
	if err != nil {
		f.Fatal(err)
	}
	about, err := json.Marshal(head{Database: "D", Chain: "C", Number: 2, Before: sum, Time: h.Time, PageSize: 65536, Size: 1 << 31,
		Pages: 1 << 40})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(next, about, []byte{1, 2, 3})
	f.Add(append(next, next[:20]...), []byte(`{"number":-1}`), []byte{})
	f.Add([]byte(magic+"\xff\xff\xff\xff\xff\xff\xff\xff"), []byte(`{"page_size":0}`), next)
	f.Fuzz(func(t *testing.T, changes, about, body []byte) {
		for _, text := range [][]byte{changes, sealedAs(about, body), append(changes, sealedAs(about, body)...)} {
			for _, name := range []string{changesName(2), baseName(2)} {
				dir := t.TempDir()
				for name, text := range map[string][]byte{baseName(1): whole, name: text} {
					if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				Verify(dir)
				p, err := readPart(bytes.NewReader(text), 0, int64(len(text)))
				if err == nil {
					p.each(func(n uint32, page []byte) error { return nil })
				}
				if _, err := Restore(dir, time.Unix(1, 0), filepath.Join(dir, "again")); err != nil && name == changesName(2) {
					t.Fatalf("the base is whole, and is not restored: %v", err)
				}
			}
		}
	})
}
