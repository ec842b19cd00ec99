package mcpserver

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	strict "github.com/go-json-experiment/json"
)

// A call is a well-formed request to call a tool we have.
type call struct {
	id     jsontext.Value
	tool   *tool
	args   jsontext.Value
	modern bool // the answer says more in revisions without sessions
}

type callParams struct {
	Name      string                    `json:"name"`
	Arguments jsontext.Value            `json:"arguments"`
	Meta      map[string]jsontext.Value `json:"_meta"`
}

// direct returns the call of a tool that a message makes, if all about it is
// as it should be. Otherwise the SDK says what is wrong.
func (p *profile) direct(h http.Header, m message) (c call, ok bool) {
	if m.Method == nil || *m.Method != "tools/call" || m.ID == nil || m.Params == nil || !acceptable(h) {
		return c, false
	}
	var params callParams
	if strict.Unmarshal(m.Params, &params) != nil {
		return c, false
	}
	c = call{id: m.ID, args: params.Arguments}
	if c.tool, ok = p.tools[params.Name]; !ok {
		return c, false
	}
	version := h.Get(headerVersion)
	c.modern = version >= modern
	switch {
	case version != "" && !slices.Contains(versions, version):
		return c, false
	case c.modern:
		return c, h.Get(headerMethod) == *m.Method && h.Get(headerName) == params.Name && described(params.Meta, version)
	}
	_, named := params.Meta[mcp.MetaKeyProtocolVersion]
	return c, !named
}

// described reports whether a request says about its client what a server
// without sessions must know.
func described(meta map[string]jsontext.Value, version string) bool {
	var named string
	var capabilities *mcp.ClientCapabilities
	if strict.Unmarshal(meta[mcp.MetaKeyProtocolVersion], &named) != nil || named != version {
		return false
	}
	if info, ok := meta[mcp.MetaKeyClientInfo]; ok {
		var client *mcp.Implementation
		if json.Unmarshal(info, &client) != nil || client == nil {
			return false
		}
	}
	return json.Unmarshal(meta[mcp.MetaKeyClientCapabilities], &capabilities) == nil && capabilities != nil
}

// isJSON reports whether a request says that its body is JSON.
func isJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// acceptable reports whether a client takes either kind of answer, as the
// protocol demands.
func acceptable(h http.Header) bool {
	var plain, stream bool
	for _, v := range h.Values("Accept") {
		for _, kind := range strings.Split(v, ",") {
			kind, _, _ = strings.Cut(kind, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
			plain = plain || kind == "application/json" || kind == "application/*" || kind == "*/*"
			stream = stream || kind == "text/event-stream" || kind == "text/*" || kind == "*/*"
		}
	}
	return plain && stream
}

// answer writes what a tool said. The data is JSON already, which an encoder would
// read and write again.
func (p *profile) answer(w http.ResponseWriter, c *call, a *answer) {
	out := append(make([]byte, 0, len(a.text)+len(a.structured)+512), `{"jsonrpc":"2.0","id":`...)
	out = add(out, c.id)
	out = append(out, `,"result":{`...)
	if c.modern {
		out = append(out, `"_meta":`...)
		out = add(out, map[string]any{mcp.MetaKeyServerInfo: p.info})
		out = append(out, `,"resultType":"complete",`...)
	}
	out = append(out, `"content":[{"type":"text","text":`...)
	out = add(out, a.text)
	out = append(out, `}]`...)
	if !p.lean && string(a.structured) != "{}" { // an empty one says nothing
		out = append(out, `,"structuredContent":`...)
		out = append(out, a.structured...)
	}
	if a.failed {
		out = append(out, `,"isError":true`...)
	}
	out = append(out, `}}`...)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out)
}

// add appends a value that always marshals.
func add(to []byte, v any) []byte {
	b, _ := strict.Marshal(v)
	return append(to, b...)
}
