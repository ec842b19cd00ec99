package diff

import (
	"bufio"
	"bytes"
	"testing"
)

func FuzzRead(f *testing.F) {
	f.Add([]byte(":100644 100644 f00c965d8307308469e537302baa73048488f162 5c7665431d579e74a47a5196a4f77671e7294e71 " +
		"M\x00a\x00\x00diff --git a/a b/a\nindex f00c965..5c76654 100644\n--- a/a\n+++ b/a\n@@ -1 +0,0 @@\n-1\n@@ -10,0 +10 @@\n+11\n"))
	f.Add([]byte(":100644 000000 f0 00 D\x00a\x00\x00diff --git a/a b/a\ndeleted file mode 100644\nBinary files differ\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		deltas, err := Read(bufio.NewReaderSize(bytes.NewReader(data), 16), "")
		if err != nil && deltas != nil {
			t.Error("both an error and a result")
		}
	})
}

// What is found makes one version into the other.
func FuzzCompare(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nc\nd"))
	f.Add([]byte("}\n}\n"), []byte("}\n}\n}\n"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		hunks, ok := Compare(before, after)
		if !ok {
			return
		}
		was, is := splitLines(before), splitLines(after)
		var made []byte
		at := 0
		for _, h := range hunks {
			made = append(made, bytes.Join(was[at:h.OldStart-1], nil)...)
			made = append(made, bytes.Join(is[h.NewStart-1:h.NewStart-1+h.NewCount], nil)...)
			at = h.OldStart - 1 + h.OldCount
		}
		if made = append(made, bytes.Join(was[at:], nil)...); !bytes.Equal(made, after) {
			t.Errorf("%q with %+v becomes %q, not %q", before, hunks, made, after)
		}
	})
}
