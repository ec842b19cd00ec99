package bulletin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"

	"github.com/svc-hq/svc/internal/core/wire"
)

var manifestPage = template.Must(template.New("manifest").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Make the GitHub app</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto 0; padding: 0 1.5rem }
button { font: inherit; padding: .5rem 1rem; cursor: pointer }
</style>
</head>
<body>
<h1>Make the GitHub app</h1>
<p>GitHub makes an app that is yours. It may read code and pull requests, and write comments and check runs; nothing else.
Afterwards you choose the repositories it sees.</p>
<form method="post" action="{{.URL}}">
<input type="hidden" name="manifest" value="{{.Manifest}}">
<button type="submit" autofocus>Go on to {{.Host}}</button>
</form>
</body>
</html>
`))

// ManifestPage is the page from which a browser goes on to GitHub to make an
// app.
func ManifestPage(m wire.GitHubManifest) string {
	text, err := json.Marshal(m.Manifest)
	var page bytes.Buffer
	if err == nil {
		err = manifestPage.Execute(&page, map[string]any{"URL": m.URL, "Manifest": string(text), "Host": hostOf(m.URL)})
	}
	if err != nil {
		panic(fmt.Sprintf("bulletin: the manifest's page: %v", err)) // our own template on our own type
	}
	return page.String()
}
