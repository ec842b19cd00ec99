package formats

import (
	"bytes"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

var (
	playRoute  = lazy.Regexp(`^\s*(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(/\S*)\s+(@?[\w.]+)`)
	playAsset  = lazy.Regexp(`^(?:controllers\.)?Assets\.`)
	playRegex  = lazy.Regexp(`\$(\w+)<[^>]*>`)
	smithyHTTP = lazy.Regexp(`@http\(([^)]*)\)`)
	smithyPart = lazy.Regexp(`(method|uri)\s*:\s*"([^"]*)"`)
)

// readPlay reads the routes of Play, one in a line.
func readPlay(source []byte, _ string) (out []contract.Contract, ok bool) {
	line := 0
	for l := range bytes.Lines(source) {
		line++
		m := playRoute.Get().FindSubmatch(l)
		if m == nil || playAsset.Get().Match(m[3]) {
			continue
		}
		route := playRegex.Get().ReplaceAll(m[2], []byte("{}"))
		if c, ok := contract.New("http:"+string(m[1])+" "+string(route), coord.Provides, line); ok {
			c.Rule = "play"
			c.Answer.Names = []string{string(bytes.TrimPrefix(m[3], []byte("@")))}
			out = append(out, c)
		}
	}
	return out, true
}

// readSmithy reads the routes that operations are bound to.
func readSmithy(source []byte, _ string) (out []contract.Contract, ok bool) {
	for _, at := range smithyHTTP.Get().FindAllSubmatchIndex(source, -1) {
		parts := map[string]string{}
		for _, m := range smithyPart.Get().FindAllSubmatch(source[at[2]:at[3]], -1) {
			parts[string(m[1])] = string(m[2])
		}
		line := 1 + bytes.Count(source[:at[0]], []byte("\n"))
		if c, ok := contract.New("http:"+parts["method"]+" "+parts["uri"], coord.Provides, line); ok {
			c.Rule = "smithy"
			out = append(out, c)
		}
	}
	return out, true
}
