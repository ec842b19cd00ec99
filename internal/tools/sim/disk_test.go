package sim

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A disk is a folder whose power can be cut: what SQLite wrote there and did not
// sync is then lost, or a part of it. Nothing is synced on the real disk, which
// would take longer than all else together.
type disk struct {
	dir  string
	lazy bool // syncs of SQLite's log are left out: the planted defect
	// fuse is told of each write that is about to happen.
	fuse func()
	// broken is told the name of each file that is read from, and where; what it
	// reports cannot be read. Nil where all can.
	broken func(name string, at int64) bool

	mu    sync.Mutex
	files map[string]*stored
	off   bool // no power: what is written from now on is of no account
}

// stored is a file as it would be found after a power cut.
type stored struct {
	log  bool // of SQLite
	kept []byte
	late []piece // written since the last sync
}

// A piece is a write, or a cut to a length.
type piece struct {
	at   int64
	data []byte
	cut  bool
}

const sector = 512

// newDisk has SQLite's files below a folder on a disk of its own.
func newDisk(dir string) *disk {
	d := &disk{dir: dir, files: map[string]*stored{}}
	vfs.install()
	vfs.mu.Lock()
	defer vfs.mu.Unlock()
	vfs.disks = append(vfs.disks, d)
	return d
}

// gone forgets the disk.
func (d *disk) gone() {
	vfs.mu.Lock()
	defer vfs.mu.Unlock()
	for i, other := range vfs.disks {
		if other == d {
			vfs.disks = append(vfs.disks[:i], vfs.disks[i+1:]...)
			return
		}
	}
}

// file returns what is stored under a name. What was there before is kept.
func (d *disk) file(name string) *stored {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.files[name]
	if f == nil {
		f = &stored{log: strings.HasSuffix(name, "-wal")}
		f.kept, _ = os.ReadFile(name) // a new one has nothing
		d.files[name] = f
	}
	return f
}

func (d *disk) remove(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.off {
		delete(d.files, name)
	}
}

func (d *disk) write(f *stored, p piece) {
	if d.fuse != nil && !d.dark() { // what is wound up without power blows no fuse: another disk has it by now
		d.fuse()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.off {
		f.late = append(f.late, p)
	}
}

// dark reports whether the power is off.
func (d *disk) dark() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off
}

func (d *disk) sync(f *stored) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off || d.lazy && f.log {
		return
	}
	for _, p := range f.late {
		f.put(p)
	}
	f.late = nil
}

func (f *stored) put(p piece) {
	if p.cut {
		f.kept = f.kept[:min(p.at, int64(len(f.kept)))]
		return
	}
	if more := p.at + int64(len(p.data)) - int64(len(f.kept)); more > 0 {
		f.kept = append(f.kept, make([]byte, more)...)
	}
	copy(f.kept[p.at:], p.data)
}

// cut ends the power: from now on nothing is kept.
func (d *disk) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
}

// rise writes into another folder what is found once the power is back: what was
// synced, and of the rest the sectors that chance has it.
func (d *disk) rise(dir string, r *rand.Rand) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	share := []float64{0, 0.5, 0.95}[r.IntN(3)]
	for _, name := range sorted(d.files) {
		f := d.files[name]
		if strings.HasSuffix(name, "-shm") {
			continue
		}
		found := &stored{kept: append([]byte(nil), f.kept...)}
		for _, p := range f.late {
			for i := 0; i < len(p.data); i += sector {
				if r.Float64() < share {
					found.put(piece{at: p.at + int64(i), data: p.data[i:min(i+sector, len(p.data))]})
				}
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), found.kept, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// vfs stands between SQLite and the system's files.
var vfs theVFS

type theVFS struct {
	once sync.Once
	unix uintptr

	mu    sync.Mutex
	disks []*disk
	open  map[uintptr]*opened
	own   map[uintptr]uintptr // methods of ours, by those of the system's files
}

type opened struct {
	name  string
	disk  *disk
	below *sqlite3.Tsqlite3_io_methods
	*stored
}

func (v *theVFS) install() {
	v.once.Do(func() {
		tls := libc.NewTLS()
		v.open, v.own = map[uintptr]*opened{}, map[uintptr]uintptr{}
		v.unix = sqlite3.Xsqlite3_vfs_find(tls, 0)
		ours := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
		*at[sqlite3.Tsqlite3_vfs](ours) = *at[sqlite3.Tsqlite3_vfs](v.unix)
		name, err := libc.CString("sim")
		if err != nil {
			panic(err)
		}
		at[sqlite3.Tsqlite3_vfs](ours).FzName = name
		at[sqlite3.Tsqlite3_vfs](ours).FxOpen = pointer(openFile)
		at[sqlite3.Tsqlite3_vfs](ours).FxDelete = pointer(deleteFile)
		if rc := sqlite3.Xsqlite3_vfs_register(tls, ours, 1); rc != 0 {
			panic(fmt.Sprintf("SQLite does not take the disk: %d", rc))
		}
	})
}

func (v *theVFS) of(name string) *disk {
	for _, d := range v.disks {
		if strings.HasPrefix(name, d.dir+"/") {
			return d
		}
	}
	return nil
}

func (v *theVFS) file(id uintptr) *opened {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.open[id]
}

// at is the C structure at an address.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// pointer makes a function that is declared one of C.
func pointer[T any](f T) uintptr {
	type held struct{ f T }
	return *(*uintptr)(unsafe.Pointer(&held{f}))
}

// function makes a pointer of C one to call.
func function[T any](p uintptr) T {
	return *(*T)(unsafe.Pointer(&struct{ uintptr }{p}))
}

type openFunc = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32

func openFile(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	unix := at[sqlite3.Tsqlite3_vfs](vfs.unix)
	rc := function[openFunc](unix.FxOpen)(tls, vfs.unix, name, file, flags, out)
	if rc != 0 || name == 0 {
		return rc
	}
	vfs.mu.Lock()
	defer vfs.mu.Unlock()
	path := libc.GoString(name)
	d := vfs.of(path)
	methods := at[uintptr](file)
	if d == nil || *methods == 0 {
		return rc
	}
	below := at[sqlite3.Tsqlite3_io_methods](*methods)
	if vfs.own[*methods] == 0 {
		p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*below)))
		own := at[sqlite3.Tsqlite3_io_methods](p)
		*own = *below
		own.FxRead, own.FxWrite, own.FxSync = pointer(readFile), pointer(writeFile), pointer(syncFile)
		own.FxTruncate, own.FxClose = pointer(truncateFile), pointer(closeFile)
		vfs.own[*methods] = p
	}
	*methods = vfs.own[*methods]
	vfs.open[file] = &opened{path, d, below, d.file(path)}
	return rc
}

func deleteFile(tls *libc.TLS, _, name uintptr, dir int32) int32 {
	path := libc.GoString(name)
	vfs.mu.Lock()
	d := vfs.of(path)
	vfs.mu.Unlock()
	if d != nil {
		d.remove(path)
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](vfs.unix).FxDelete)(tls, vfs.unix, name, dir)
}

func readFile(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	f := vfs.file(file)
	if f.disk.broken != nil && f.disk.broken(f.name, offset) {
		return sqlite3.SQLITE_IOERR_READ
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.below.FxRead)(tls, file, data, n, offset)
}

func writeFile(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	f := vfs.file(file)
	f.disk.write(f.stored, piece{at: offset, data: append([]byte(nil), unsafe.Slice(at[byte](data), n)...)})
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.below.FxWrite)(tls, file, data, n, offset)
}

func truncateFile(tls *libc.TLS, file uintptr, size int64) int32 {
	f := vfs.file(file)
	f.disk.write(f.stored, piece{at: size, cut: true})
	return function[func(*libc.TLS, uintptr, int64) int32](f.below.FxTruncate)(tls, file, size)
}

func syncFile(_ *libc.TLS, file uintptr, _ int32) int32 {
	f := vfs.file(file)
	f.disk.sync(f.stored)
	return 0
}

func closeFile(tls *libc.TLS, file uintptr) int32 {
	f := vfs.file(file)
	vfs.mu.Lock()
	delete(vfs.open, file)
	vfs.mu.Unlock()
	return function[func(*libc.TLS, uintptr) int32](f.below.FxClose)(tls, file)
}
