package rest_test

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/rest"
)

func TestAPanicIsA500ThatTellsNothing(t *testing.T) {
	var log bytes.Buffer
	s := rest.New(api.New(nil), nil, slog.New(slog.NewTextHandler(&log, nil)), "1.2.3") // without anybody to know tokens
	req := httptest.NewRequest("GET", "/v1/me", nil)
	req.Header.Set("Authorization", "Bearer svc_pat_x")
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, req)
	if rec.Code != 500 || rec.Header().Get("Content-Type") != "application/problem+json" || strings.Contains(rec.Body.String(), "pointer") {
		t.Errorf("answer %d %s", rec.Code, rec.Body)
	}
	if !strings.Contains(log.String(), "nil pointer") {
		t.Errorf("the log does not tell of the panic: %s", &log)
	}
}
