package jj

import "encoding/binary"

// Jujutsu writes its records as protocol buffers. Few fields matter, and those
// are texts, ids and messages: everything that has a length. Google's reader is
// no help here: its packages open the program's own file at every start, and
// hooks are waited for.

// fields returns the last value of each field that has a length.
func fields(message []byte) (map[int][]byte, error) {
	out := map[int][]byte{}
	err := each(message, func(field int, value []byte) error {
		out[field] = value
		return nil
	})
	return out, err
}

// each hands the fields that have a length to visit, in order.
func each(message []byte, visit func(field int, value []byte) error) error {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29 {
			return errDamaged
		}
		message = message[n:]
		size, head := uint64(0), 0
		switch tag & 7 {
		case 0:
			_, head = binary.Uvarint(message)
		case 1:
			size = 8
		case 2:
			size, head = binary.Uvarint(message)
		case 5:
			size = 4
		default:
			return errDamaged
		}
		if numbered := tag&7 == 0 || tag&7 == 2; head < 0 || numbered && head == 0 || size > uint64(len(message)-head) {
			return errDamaged
		}
		value := message[head : head+int(size)]
		message = message[head+int(size):]
		if tag&7 == 2 {
			if err := visit(int(tag>>3), value); err != nil {
				return err
			}
		}
	}
	return nil
}
