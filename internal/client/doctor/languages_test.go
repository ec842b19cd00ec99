package doctor_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/doctor"
)

// Who built svc without a C compiler reads that no definitions are known but Go's.
func TestABuildWithoutGrammarsIsTold(t *testing.T) {
	const fix = "install a release, or build with make build"
	for how, want := range map[string]string{
		"none":   "warn languages this build reads definitions of go only " + fix,
		"native": "ok languages 17, with native grammars ",
	} {
		languages := []string{"go"}
		if how != "none" {
			languages = slices.Repeat(languages, 17)
		}
		p := &doctor.Patient{
			Now:       time.Now,
			RemoteErr: errors.New("no server"),
			Reads:     func() (string, []string) { return how, languages },
		}
		var said []string
		for _, c := range doctor.Examine(t.Context(), p, nil).Checks {
			said = append(said, fmt.Sprint(c.Level, " ", c.Name, " ", c.Detail, " ", c.Fix))
		}
		if !slices.Contains(said, want) {
			t.Errorf("%s: %q", how, said)
		}
	}
}
