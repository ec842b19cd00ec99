package vault_test

import (
	"testing"

	"github.com/svc-hq/svc/internal/server/vault"
)

// Nothing opens but what was sealed.
func FuzzOpen(f *testing.F) {
	v, err := vault.FromSetting(vault.NewKey())
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := v.Seal("x", "secret")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add("v1.00000000.AAAA")
	f.Add("v1..")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := v.Open("x", text); err == nil && (text != sealed || got != "secret") {
			t.Fatalf("%q opened to %q", text, got)
		}
	})
}
