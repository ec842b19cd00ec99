package mcpserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	strict "github.com/go-json-experiment/json"
)

// Headers that mirror a message.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// A message is one JSON-RPC message, read strictly: a duplicate or misspelt
// member is never taken for another.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  *string        `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

// A fault is an answer to a message that is not taken at all.
type fault struct {
	status int
	id     jsontext.Value
	code   int64
	text   string
	data   any
}

func (f *fault) write(w http.ResponseWriter) {
	id := json.RawMessage("null")
	if f.id != nil {
		id = json.RawMessage(f.id)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	_ = json.NewEncoder(w).Encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", id, rpcError{f.code, f.text, f.data}})
}

type rpcError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// parse reads a message, or says what is wrong with it. Batches are gone from
// the protocol since 2025-06-18.
func parse(body []byte) (m message, bad *fault) {
	malformed := func(code int64, text string) (message, *fault) {
		return m, &fault{status: http.StatusBadRequest, code: code, text: text}
	}
	if !jsontext.Value(body).IsValid() {
		return malformed(jsonrpc.CodeParseError, "the body is not valid JSON: one object in UTF-8, no member twice")
	}
	switch jsontext.Value(body).Kind() {
	case '{':
	case '[':
		return malformed(jsonrpc.CodeInvalidRequest, "batches are not supported; send one message per request")
	default:
		return malformed(jsonrpc.CodeInvalidRequest, "a message is a JSON object")
	}
	if err := strict.Unmarshal(body, &m); err != nil || m.JSONRPC != "2.0" {
		return malformed(jsonrpc.CodeInvalidRequest,
			`this is not a JSON-RPC message: it has jsonrpc "2.0", method, and an id unless it is a notification`)
	}
	if m.ID != nil && !validID(m.ID) {
		m.ID = nil
		return malformed(jsonrpc.CodeInvalidRequest, "id must be a string or a whole number")
	}
	response := m.Method == nil && m.ID != nil && (m.Result != nil) != (m.Error != nil)
	switch {
	case response:
	case m.Method == nil || *m.Method == "":
		return m, &fault{status: http.StatusBadRequest, id: m.ID, code: jsonrpc.CodeInvalidRequest, text: "method is missing"}
	case m.Params != nil && m.Params.Kind() != '{':
		return m, &fault{status: http.StatusBadRequest, id: m.ID, code: jsonrpc.CodeInvalidParams, text: "params must be an object"}
	}
	return m, nil
}

func validID(id jsontext.Value) bool {
	if id.Kind() == '0' {
		_, err := strconv.ParseInt(string(id), 10, 64)
		return err == nil
	}
	return id.Kind() == '"'
}

// methods are those of the protocol that a client may send to any server; the
// SDK answers them, if only to refuse them.
var methods = []string{
	"initialize", "ping", "server/discover", "subscriptions/listen", "tools/list", "tools/call",
	"prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list",
	"resources/subscribe", "resources/unsubscribe",
	"completion/complete", "logging/setLevel",
}

// check refuses what the SDK would answer in plain text, which a client
// relates to no request: versions that nobody speaks, and methods that no
// revision has.
func (m message) check(h http.Header) *fault {
	version := h.Get(headerVersion)
	switch {
	case version != "" && version < modern && !slices.Contains(versions, version):
		return &fault{status: http.StatusBadRequest, id: m.ID, code: mcp.CodeUnsupportedProtocolVersion, text: "unsupported protocol version",
			data: mcp.UnsupportedProtocolVersionData{Supported: versions, Requested: version}}
	case m.Method == nil || m.ID == nil || slices.Contains(methods, *m.Method):
		return nil
	}
	return &fault{status: http.StatusNotFound, id: m.ID, code: jsonrpc.CodeMethodNotFound, text: "method not found: " + *m.Method}
}

// modern is the first revision without sessions.
const modern = "2026-07-28"

var versions = mcp.SupportedProtocolVersions()
