package companion

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheCompanionIsUnpackedOnceAndAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cache", "svc")
	old, err := unpack(bytes.NewReader(pack(t, "an older program")), folder, "reader")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	paths := make([]string, 8)
	for i := range paths { // hooks come at once
		all.Go(func() {
			var err error
			if paths[i], err = unpack(bytes.NewReader(pack(t, "the program")), folder, "reader"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, p := range paths {
		data, err := os.ReadFile(p)
		info, _ := os.Stat(p)
		if err != nil || string(data) != "the program" || info.Mode().Perm() != 0o700 || p != paths[0] {
			t.Errorf("%s holds %q, %v, mode %v", p, data, err, info.Mode())
		}
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the older program is still there")
	}
}

func TestADamagedCompanionIsMadeAnew(t *testing.T) {
	folder, data := t.TempDir(), pack(t, "the program")
	path, err := unpack(bytes.NewReader(data), folder, "reader")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("half"), 0o700); err != nil {
		t.Fatal(err)
	}
	if again, err := unpack(bytes.NewReader(data), folder, "reader"); err != nil || again != path {
		t.Fatalf("%s, %v", again, err)
	}
	if text, _ := os.ReadFile(path); string(text) != "the program" {
		t.Errorf("it holds %q", text)
	}
	bad := bytes.Clone(data)
	bad[len(bad)/2] ^= 1
	if _, err := unpack(bytes.NewReader(bad), t.TempDir(), "reader"); err == nil {
		t.Error("a damaged file was unpacked")
	}
}

// A damaged program of the right size is found out and unpacked anew.
func TestADamagedCompanionIsRepaired(t *testing.T) {
	folder := t.TempDir()
	data := pack(t, "the program")
	path, err := unpack(bytes.NewReader(data), folder, "reader")
	if err != nil {
		t.Fatal(err)
	}
	if Repair(path) {
		t.Error("a sound program was removed")
	}
	if err := os.WriteFile(path, []byte("THE PROGRAM"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !Repair(path) {
		t.Error("a damaged program was kept")
	}
	if path, err = unpack(bytes.NewReader(data), folder, "reader"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "the program" {
		t.Errorf("%q %v", text, err)
	}
}

func TestWhereThereIsNoPlaceItSaysWhatToDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := unpack(bytes.NewReader(pack(t, "the program")), filepath.Join(file, "svc"), "reader")
	if err = advise(err, cacheMover("linux")); err == nil || !strings.Contains(err.Error(), "set XDG_CACHE_HOME to a folder") {
		t.Errorf("it says %v", err)
	}
	if _, err := unpack(bytes.NewReader(nil), t.TempDir(), "reader"); advise(err, "TMPDIR").Error() != err.Error() {
		t.Errorf("a damaged part is taken for a full disk: %v", err)
	}
}
