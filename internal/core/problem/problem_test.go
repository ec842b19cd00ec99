package problem_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/problem"
)

func TestEveryKindHasAStatusAndATitle(t *testing.T) {
	for _, k := range problem.Kinds() {
		if k.Status() < 400 || k.Title() == "" {
			t.Errorf("kind %s has status %d and title %q", k, k.Status(), k.Title())
		}
	}
}

func TestInternalErrorsStayHidden(t *testing.T) {
	b := problem.BodyOf(fmt.Errorf("insert intent: password=hunter2"))
	if b.Status != 500 || bytes.Contains([]byte(b.Detail), []byte("hunter2")) {
		t.Errorf("body of an internal error = %+v", b)
	}
}

func TestWireFormRoundTrip(t *testing.T) {
	want := problem.InvalidField("title", "must be 1-200 characters")
	j, err := json.Marshal(problem.BodyOf(fmt.Errorf("wrapped: %w", want)))
	if err != nil {
		t.Fatal(err)
	}
	got := problem.Read(bytes.NewReader(j))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %#v, wrote %#v", got, want)
	}
}

func TestRetryAfterRoundsUp(t *testing.T) {
	if got := problem.RetryAfter(problem.Later(1500*time.Millisecond, "slow")); got != 2 {
		t.Errorf("RetryAfter = %d, want 2", got)
	}
	if got := problem.RetryAfter(errors.New("x")); got != 0 {
		t.Errorf("RetryAfter of a plain error = %d, want 0", got)
	}
}
