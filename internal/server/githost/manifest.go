package githost

import (
	"net/url"
	"strings"
)

// NewAppURL returns where on a GitHub a manifest is posted to, for an
// organization or, without owner, for whoever posts it.
func NewAppURL(web, owner, state string) string {
	path := "/settings/apps/new"
	if owner != "" {
		path = "/organizations/" + url.PathEscape(owner) + path
	}
	return strings.TrimSuffix(web, "/") + path + "?state=" + url.QueryEscape(state)
}

// Manifest describes the app that GitHub is to make: it may read code and pull
// requests, and write comments and check runs.
func Manifest(name, publicURL string) map[string]any {
	return map[string]any{
		"name":         name,
		"url":          publicURL,
		"description":  "Tells svc of pushes and pull requests, and pull requests of conflicts.",
		"public":       false,
		"redirect_url": publicURL + "/v1/github/app/callback",
		"setup_url":    publicURL + "/settings/github",
		"hook_attributes": map[string]any{
			"url":    publicURL + "/v1/github/webhook",
			"active": true,
		},
		"default_permissions": map[string]any{"metadata": "read", "contents": "read", "pull_requests": "write", "checks": "write",
			"merge_queues": "read"},
		"default_events": []string{"push", "pull_request", "repository", "check_run", "check_suite", "merge_group"},
	}
}
