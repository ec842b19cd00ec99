package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// DeltaPack adds a pack to a repository in which each object is a difference to
// another, by their ids: such as git never writes, but whoever makes a repository
// can. Objects of those ids that lie in files of their own are removed.
func DeltaPack(t testing.TB, root string, base map[string]string) {
	t.Helper()
	objects := filepath.Join(root, ".git", "objects")
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(base)))
	var names, sums, offsets []byte
	var fan [256]uint32
	for _, id := range slices.Sorted(maps.Keys(base)) {
		_ = os.Remove(filepath.Join(objects, id[:2], id[2:]))
		name := decodeID(t, id)
		names = append(names, name...)
		sums = append(sums, 0, 0, 0, 0)
		offsets = binary.BigEndian.AppendUint32(offsets, uint32(len(pack)))
		for i := int(name[0]); i < len(fan); i++ {
			fan[i]++
		}
		delta := []byte{1, 1, 1, 'x'} // of one byte, to one, which is new
		pack = append(append(pack, byte(7<<4|len(delta))), decodeID(t, base[id])...)
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		_, _ = z.Write(delta)
		_ = z.Close()
		pack = append(pack, packed.Bytes()...)
	}
	sum := sha1.Sum(pack)
	pack = append(pack, sum[:]...)
	index := []byte("\xfftOc\x00\x00\x00\x02")
	for _, n := range fan {
		index = binary.BigEndian.AppendUint32(index, n)
	}
	index = slices.Concat(index, names, sums, offsets, sum[:])
	whole := sha1.Sum(index)
	Write(t, objects, "pack/pack-made.pack", string(pack))
	Write(t, objects, "pack/pack-made.idx", string(append(index, whole[:]...)))
}

func decodeID(t testing.TB, id string) []byte {
	t.Helper()
	name, err := hex.DecodeString(id)
	if err != nil || len(name) != sha1.Size {
		t.Fatalf("%q is no id", id)
	}
	return name
}
