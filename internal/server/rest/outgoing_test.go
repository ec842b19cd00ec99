package rest_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// What leaves the house, for the walk over the table.
func init() {
	maps.Copy(objects, map[string]maker{
		"DELETE /v1/webhooks/{id}":         onWebhook(""),
		"PATCH /v1/webhooks/{id}":          onWebhookWith("", map[string]any{"description": nil, "paused": true}),
		"POST /v1/webhooks/{id}/rotate":    onWebhook("/rotate"),
		"POST /v1/webhooks/{id}/replay":    onWebhookWith("/replay", map[string]any{"since": "2026-11-15T09:30:00.000Z"}),
		"POST /v1/webhooks/{id}/test":      onWebhook("/test"),
		"GET /v1/webhooks/{id}/deliveries": onWebhook("/deliveries"),
		"POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
			hook := onWebhook("/test")(t, w, o)
			var test struct {
				DeliveryID string `json:"delivery_id"`
			}
			w.Must(http.StatusAccepted, daemontest.Request{Method: "POST", Path: hook.path, Token: o.Owner()}, &test)
			return object{"/v1/webhooks/" + hook.id + "/deliveries/" + test.DeliveryID + "/redeliver", test.DeliveryID, nil}
		},
	})
	objects["PUT /v1/integrations/slack/repos/{repo}"] = func(_ testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := create(w, o, "/v1/repos", map[string]any{"full_name": unique("acme/repo")})
		return object{"/v1/integrations/slack/repos/" + id, id, map[string]any{"webhook_url": "https://hooks.slack.com/services/T0/B0/y"}}
	}
	maps.Copy(good, map[string]any{
		"POST /v1/webhooks": map[string]any{
			"url":         "https://hooks.example.com/good",
			"event_types": []string{"intent.declared"},
		},
		"PUT /v1/integrations/slack":       map[string]any{"webhook_url": "https://hooks.slack.com/services/T0/B0/x"},
		"POST /v1/integrations/slack/test": nil,
		"PATCH /v1/integrations/slack": map[string]any{
			"every_minutes": 15,
			"quiet":         map[string]any{"from": "19:00", "until": "08:00", "zone": "Europe/Berlin", "weekends": true},
		},
		"PUT /v1/integrations/digest": map[string]any{
			"enabled":  true,
			"day":      1,
			"hour":     9,
			"channels": []string{"slack"},
			"email_me": true,
		},
		"POST /v1/integrations/digest/preview":  nil,
		"POST /v1/integrations/digest/send-now": nil,
	})
}

func onWebhook(tail string) maker { return onWebhookWith(tail, nil) }

func onWebhookWith(tail string, body any) maker {
	return func(_ testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := create(w, o, "/v1/webhooks", map[string]any{"url": "https://hooks.example.com/" + unique("hook")})
		return object{"/v1/webhooks/" + id + tail, id, body}
	}
}
