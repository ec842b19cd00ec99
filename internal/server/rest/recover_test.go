package rest

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/server/api"
)

func TestAPanicIsA500ThatTellsNothing(t *testing.T) {
	var log bytes.Buffer
	s := New(api.New(nil), nil, slog.New(slog.NewTextHandler(&log, nil)), "1.2.3")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /boom", func(http.ResponseWriter, *http.Request) { panic("hunter2") })
	rec := httptest.NewRecorder()
	s.guarded(mux).ServeHTTP(rec, httptest.NewRequest("GET", "/boom", nil))
	if rec.Code != 500 || rec.Header().Get("Content-Type") != "application/problem+json" || strings.Contains(rec.Body.String(), "hunter2") {
		t.Errorf("answer %d %s", rec.Code, rec.Body)
	}
	if !strings.Contains(log.String(), "hunter2") {
		t.Errorf("the log does not tell of the panic: %s", &log)
	}
}
