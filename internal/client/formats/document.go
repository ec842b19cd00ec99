package formats

import (
	"bytes"
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Document reads YAML and JSON that describes routes; other such files are left
// alone after a look.
func Document(source []byte, file string) ([]contract.Contract, bool) {
	if kind := describes(source, file); kind != "" {
		return parseDocument(source, file, kind)
	}
	return nil, true
}

// says is the line that makes a document an API's, wherever it stands: tools
// sort keys.
var says = lazy.Regexp(`(?m)^\s{0,4}["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]|"(?:openapi|swagger)"\s*:\s*"[23]`)

var symfonyRoutes = lazy.Regexp(`(?:^|/)config/rout(?:es|ing)(?:/.*)?\.ya?ml$`)

// describes tells what a document describes routes for, by its name or by what
// it says; "" where it does not.
func describes(source []byte, file string) (kind string) {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	switch {
	case stem == "serverless":
		return "serverless"
	case bytes.Contains(source, []byte("AWS::Serverless::Function")):
		return "sam"
	case symfonyRoutes.Get().MatchString(file):
		return "symfony"
	case says.Get().Match(source):
		return "openapi"
	}
	return ""
}
