package bridge

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// JSON-RPC error codes of our own answers.
const (
	codeParse       = -32700
	codeUnavailable = -32000
	codeLogin       = -32001
)

// A message is one line of the host, with the parts that routing needs.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
		Name      string          `json:"name"`
		Arguments struct {
			SessionID string `json:"session_id"`
		} `json:"arguments"`
		URI    string                     `json:"uri"`
		Meta   map[string]json.RawMessage `json:"_meta"`
		Client struct {
			Name string `json:"name"`
		} `json:"clientInfo"`
	} `json:"params"`

	raw []byte
	bad bool
}

func parse(line []byte) message {
	m := message{raw: line}
	if !json.Valid(line) {
		m.bad = true
		return m
	}
	if line[0] == '{' {
		_ = json.Unmarshal(line, &m) // odd parts are the service's to refuse
	}
	if bytes.Equal(m.ID, []byte("null")) {
		m.ID = nil
	}
	return m
}

// isRequest reports whether m must be answered.
func (m message) isRequest() bool { return len(m.ID) > 0 && m.Method != "" }

// cancels returns the id of the request that m withdraws, or "".
func (m message) cancels() string {
	if m.Method != "notifications/cancelled" {
		return ""
	}
	return string(m.Params.RequestID)
}

// repeatable reports whether sending m twice does no harm. A tool call may
// have been carried out although its answer was lost.
func (m message) repeatable() bool { return m.Method != "tools/call" }

const (
	protocolVersionKey = "io.modelcontextprotocol/protocolVersion"
	clientInfoKey      = "io.modelcontextprotocol/clientInfo"
)

// client returns how the host calls itself, where a message tells: at
// initialize, or in every message of the newer protocol.
func (m message) client() string {
	if m.Params.Client.Name != "" {
		return m.Params.Client.Name
	}
	var info struct{ Name string }
	_ = json.Unmarshal(m.Params.Meta[clientInfoKey], &info)
	return info.Name
}

// agentHosts are parts of the names under which agent hosts introduce
// themselves. Behind each is a model that reads what tools answer.
var agentHosts = strings.Fields("claude codex cursor gemini qwen copilot opencode kilo cline roo droid factory " +
	"windsurf cascade goose amp zed continue omp crush")

// forModel reports whether a client is an agent host: it then gets what a
// model reads, and no records beside the words. Everybody else gets both.
func forModel(client string) bool {
	client = strings.ToLower(client)
	return slices.ContainsFunc(agentHosts, func(name string) bool { return strings.Contains(client, name) })
}

// setHeaders adds the headers that mirror a message. settled is the version
// that initialize agreed on; newer hosts name it in every message instead.
func (m message) setHeaders(h http.Header, settled string) {
	var version string
	_ = json.Unmarshal(m.Params.Meta[protocolVersionKey], &version)
	if version == "" {
		if settled != "" {
			h.Set("MCP-Protocol-Version", settled)
		}
		return
	}
	h.Set("MCP-Protocol-Version", headerValue(version))
	h.Set("Mcp-Method", headerValue(m.Method))
	switch m.Method {
	case "tools/call", "prompts/get":
		h.Set("Mcp-Name", headerValue(m.Params.Name))
	case "resources/read":
		h.Set("Mcp-Name", headerValue(m.Params.URI))
	}
}

// headerValue writes s so that it survives as a header.
func headerValue(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	if plain && strings.TrimSpace(s) == s {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// reply answers a request ourselves.
func (b *Bridge) reply(id json.RawMessage, code int, text string) {
	type rpcError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	data, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", id, rpcError{code, text}})
	if err == nil {
		b.emit(data)
	}
}
