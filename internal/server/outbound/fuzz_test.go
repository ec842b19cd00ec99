package outbound_test

import (
	"net/netip"
	"net/url"
	"testing"

	"github.com/svc-hq/svc/internal/server/outbound"
)

// Whatever the text, an address that can be saved is https and names no
// private address literally, and nothing panics.
func FuzzCheckURL(f *testing.F) {
	for _, tt := range bad {
		f.Add(tt.url)
	}
	f.Add("https://hooks.example.com/x?y=z")
	c := outbound.New(outbound.Policy{})
	f.Fuzz(func(t *testing.T, text string) {
		if c.CheckURL(text) != nil {
			return
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Host == "" {
			t.Fatalf("%q passed", text)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && !outbound.Public(a) {
			t.Fatalf("%q passed: %v is not public", text, a)
		}
	})
}

func FuzzParseAllow(f *testing.F) {
	f.Add("10.0.0.0/8, 192.168.1.5")
	f.Add("::/0")
	f.Fuzz(func(t *testing.T, text string) {
		ranges, err := outbound.ParseAllow(text)
		for _, r := range ranges {
			if err == nil && !r.IsValid() {
				t.Fatalf("%q gave an invalid range", text)
			}
		}
	})
}
