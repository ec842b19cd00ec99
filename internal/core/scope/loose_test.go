package scope

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
)

// Routes that differ by a prefix meet when the rest is specific; routes of
// unrelated services that are called alike do not.
func TestRoutesMeet(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"http:GET /api/articles", "http:GET /articles", true},
		{"http:GET /api/v1/users/{}", "http:GET /users/{}", true},
		{"http:GET /api/articles/{}", "http:GET /v2/articles/{}", true},
		{"http:GET /conduit/articles/{}/comments", "http:GET /articles/{}/comments", true},
		{"http:ANY /api/tags", "http:GET /tags", true},
		{"http:GET /api/Orders/{}", "http:GET /api/orders/{}", true},
		{"http:GET /shop/v1/orders/{}/items", "http:GET /orders/{}/items", true},
		{"http:GET /api/articles", "http:POST /articles", false},
		{"http:GET /admin/users", "http:GET /users", false},
		{"http:GET /orders/{}/items", "http:GET /items", false},
		{"http:GET /api/health", "http:GET /health", false},
		{"http:GET /billing/status", "http:GET /status", false},
		{"http:GET /users/{}", "http:GET /users", false},
		{"http:GET /articles/{}/comments", "http:GET /posts/{}/comments", false},
		{"http:GET /{}/comments", "http:GET /articles/{}/comments", false},
		{"http:GET /", "http:GET /api", false},
		{"db:public.users", "http:GET /users", false},
	} {
		if got := RoutesMeet(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, got, tt.want)
		}
		if RoutesMeet(tt.a, tt.b) != RoutesMeet(tt.b, tt.a) {
			t.Errorf("%s and %s: it depends on who asks", tt.a, tt.b)
		}
	}
}

// Whatever meets can be found under one key, and a route meets itself unless
// it says nothing.
func TestWhatMeetsIsFoundTogether(t *testing.T) {
	route := rapid.Custom(func(t *rapid.T) string {
		s := "http:GET "
		elem := rapid.SampledFrom([]string{"api", "v1", "users", "orders", "{}", "health", "items"})
		for _, e := range rapid.SliceOfN(elem, 1, 5).Draw(t, "elems") {
			s += "/" + e
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := route.Draw(t, "a"), route.Draw(t, "b")
		if RoutesMeet(a, b) && LooseKey(a) != LooseKey(b) {
			t.Errorf("%s and %s meet, under %q and %q", a, b, LooseKey(a), LooseKey(b))
		}
		if RoutesMeet(a, a) != (LooseKey(a) != "") {
			t.Errorf("%s meets itself: %v", a, RoutesMeet(a, a))
		}
	})
}
