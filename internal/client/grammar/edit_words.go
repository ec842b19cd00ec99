//go:build lean || apart || !cgo

package grammar

// words are an edit as flatten.h has it.
func (d *edit) words() []uint32 {
	return []uint32{uint32(d.start.offset), uint32(d.old.offset), uint32(d.new.offset), uint32(d.start.row), uint32(d.start.column),
		uint32(d.old.row), uint32(d.old.column), uint32(d.new.row), uint32(d.new.column)}
}
