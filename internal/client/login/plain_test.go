package login

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/coord"
)

// What is read without encoding/json is what encoding/json reads, whatever
// stands in the file; and what svc writes is read so.
func TestAPlainConfigIsReadAsJSON(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,20}`), rapid.String(), rapid.Just(""))
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Server: text.Draw(t, "server"), Token: text.Draw(t, "token"), MachineID: text.Draw(t, "machine"),
			DataMode: coord.DataMode(text.Draw(t, "mode")), WebURL: text.Draw(t, "web"), Keychain: rapid.Bool().Draw(t, "keychain"),
			Insecure: rapid.Bool().Draw(t, "insecure")}
		data, err := json.MarshalIndent(c, "", rapid.SampledFrom([]string{"", "  "}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.IntRange(0, len(data)).Draw(t, "from")
		to := rapid.IntRange(from, min(len(data), from+8)).Draw(t, "to")
		signs := []string{"{", "}", ",", ":", `"`, "true", "false", "null", " ", "\n", `"server"`, `\n`, "1", "x"}
		put := strings.Join(rapid.SliceOfN(rapid.SampledFrom(signs), 0, 3).Draw(t, "put"), "")
		file := string(data[:from]) + put + string(data[to:])
		if got, ok := readPlain(file); ok {
			var want Config
			if err := json.Unmarshal([]byte(file), &want); err != nil || got != want {
				t.Fatalf("%s is read as %+v, json reads %+v, %v", file, got, want, err)
			}
		}
	})
	for _, c := range []Config{
		{Server: "https://svc.example.com", Token: "svc_" + strings.Repeat("a", 43), MachineID: "m-1", DataMode: "metadata", WebURL: "https://x"},
		{Keychain: true, Insecure: true, MachineID: "m-2"},
	} {
		data, err := json.MarshalIndent(c, "", "  ")
		if got, ok := readPlain(string(data) + "\n"); err != nil || !ok || got != c {
			t.Errorf("%s is read as %+v, %v", data, got, ok)
		}
	}
}
