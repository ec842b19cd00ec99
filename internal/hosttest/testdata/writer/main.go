// Command writer is a tool server like any other, with one tool that writes a
// file: what an agent does through it, no hook of the host's edit tools sees.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type object = map[string]any

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var req struct {
			ID     any    `json:"id"`
			Method string `json:"method"`
			Params struct {
				ProtocolVersion string            `json:"protocolVersion"`
				Arguments       map[string]string `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		answer := object{"jsonrpc": "2.0", "id": req.ID}
		switch req.Method {
		case "initialize":
			answer["result"] = object{"protocolVersion": req.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
				"serverInfo": object{"name": "writer", "version": "1"}}
		case "tools/list":
			text := object{"type": "string"}
			answer["result"] = object{"tools": []object{{"name": "put_note", "description": "Put a note into a file.", "inputSchema": object{
				"type": "object", "properties": object{"path": text, "text": text}, "required": []string{"path", "text"}}}}}
		case "tools/call":
			done := "written"
			if err := os.WriteFile(req.Params.Arguments["path"], []byte(req.Params.Arguments["text"]), 0o644); err != nil {
				done = err.Error()
			}
			answer["result"] = object{"content": []object{{"type": "text", "text": done}}}
		case "ping":
			answer["result"] = object{}
		default:
			answer["error"] = object{"code": -32601, "message": "no such method"}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}
