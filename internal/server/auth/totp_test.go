package auth_test

import (
	"encoding/base32"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/server/auth"
)

// The codes of RFC 6238, appendix B, in six digits.
func TestOneTimeCodes(t *testing.T) {
	secret := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte("12345678901234567890"))
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924",
		2000000000: "279037", 20000000000: "353130"} {
		if got, err := auth.TOTPAt(secret, time.Unix(at, 0)); err != nil || got != want {
			t.Errorf("at %d: %s, %v, want %s", at, got, err, want)
		}
	}
}
