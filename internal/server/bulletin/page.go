package bulletin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"

	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// browserPages are what the service shows a browser by itself, outside of the
// dashboard's application. They look like its pages before sign-in, run
// nothing, and work where the dashboard was not built.
var browserPages = template.Must(template.New("page").Parse(`{{define "top"}}<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/icon.svg">
<title>{{.Title}} · svc</title>
<style>
:root { --canvas: #f6f7f5; --surface: #fff; --line: #e0e4e0; --text: #18211e; --dim: #59645f; --accent: #0b7285 }
@media (prefers-color-scheme: dark) {
  :root { --canvas: #101412; --surface: #171c1a; --line: #29302d; --text: #e4e9e6; --dim: #9aa5a0; --accent: #4cc3d4 }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; padding: 24px; background: var(--canvas); color: var(--text);
  font: 0.875rem/1.5 Inter, ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif }
main { width: min(400px, calc(100vw - 48px)); background: var(--surface);
  border: 1px solid var(--line); border-radius: 14px; padding: 28px }
.brand { display: flex; align-items: center; gap: 10px; font-size: 1.0625rem; font-weight: 650; margin-bottom: 22px }
h1 { font-size: 1.25rem; line-height: 1.3; letter-spacing: -0.012em; margin: 0 0 8px }
p { margin: 0 0 18px; overflow-wrap: anywhere }
.dim { color: var(--dim) }
.small { font-size: 0.75rem; margin: 18px 0 0 }
.button { display: block; width: 100%; padding: 9px 16px; border: 0; border-radius: 7px; background: #0b7285; color: #fff;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer }
.button:hover { background: #0a6373 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
</style>
</head>
<body>
<main>
<div class="brand"><img src="/icon.svg" alt="" width="30" height="30">svc</div>
<h1>{{.Title}}</h1>
{{end}}
{{define "end"}}</main>
</body>
</html>
{{end}}
{{define "manifest"}}{{template "top" .}}
<p class="dim">GitHub makes an app that is yours. It may read code and pull requests, and write comments and check runs; nothing else.
Afterwards you choose the repositories it sees.</p>
<form method="post" action="{{.URL}}">
<input type="hidden" name="manifest" value="{{.Manifest}}">
<button class="button" type="submit" autofocus>Go on to {{.Host}}</button>
</form>
{{template "end"}}{{end}}
{{define "unsubscribe"}}{{template "top" .}}
{{if .Done}}<p role="status">The weekly digest of {{.Org}} is not mailed to you any more.</p>
<a class="button" href="{{.Settings}}">Open the settings</a>
{{else}}<p class="dim">The weekly digest of {{.Org}} will not be mailed to you any more.</p>
<form method="post" action="{{.Action}}">
<input type="hidden" name="List-Unsubscribe" value="One-Click">
<button class="button" type="submit" autofocus>Unsubscribe</button>
</form>{{end}}
{{template "end"}}{{end}}
{{define "failure"}}{{template "top" .}}
<p role="alert">{{.What}}</p>
<a class="button" href="{{.To}}">{{.Link}}</a>
{{with .Request}}<p class="dim small">If it keeps happening, show this to the server's administrator: {{.}}</p>{{end}}
{{template "end"}}{{end}}
`))

func browserPage(name string, data any) string {
	var text bytes.Buffer
	if err := browserPages.ExecuteTemplate(&text, name, data); err != nil {
		panic(fmt.Sprintf("bulletin: the page %s: %v", name, err)) // our own template on our own type
	}
	return text.String()
}

// ManifestPage is the page from which a browser goes on to GitHub to make an
// app.
func ManifestPage(m wire.GitHubManifest) string {
	text, err := json.Marshal(m.Manifest)
	if err != nil {
		panic(fmt.Sprintf("bulletin: the manifest: %v", err)) // strings of our own
	}
	return browserPage("manifest", map[string]any{
		"Title":    "Make the GitHub app",
		"URL":      m.URL,
		"Manifest": string(text),
		"Host":     hostOf(m.URL),
	})
}

// UnsubscribePage is the page behind the link by which letters are ended: it
// asks first, and says afterwards that it is done.
func UnsubscribePage(u wire.Unsubscribed, action, settings string) string {
	title := "No more digests?"
	if u.Done {
		title = "You are unsubscribed"
	}
	return browserPage("unsubscribe", map[string]any{
		"Title":    title,
		"Org":      peertext.Line(u.Org, 80),
		"Done":     u.Done,
		"Action":   action,
		"Settings": settings,
	})
}

// A Failure is what a browser is shown in place of a problem.
type Failure struct {
	Title   string // what did not work
	What    string // why
	To      string // where to begin again
	Link    string // what that is called
	Request string // by which the log has more; empty where that would not help
}

// FailurePage is the page for somebody whose browser came to an address by
// itself and failed there.
func FailurePage(f Failure) string { return browserPage("failure", f) }
