package cli

import (
	"strings"

	"rsc.io/qr"
)

// qrCode draws text with two modules per character, dark on light whatever
// the terminal's colours are.
func qrCode(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", err
	}
	const quiet = 2
	dark := func(x, y int) bool { return code.Black(x, y) } // outside is light
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		b.WriteString("  \x1b[30;107m")
		for x := -quiet; x < code.Size+quiet; x++ {
			switch top, bottom := dark(x, y), dark(x, y+1); {
			case top && bottom:
				b.WriteString("█")
			case top:
				b.WriteString("▀")
			case bottom:
				b.WriteString("▄")
			default:
				b.WriteString(" ")
			}
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String(), nil
}
