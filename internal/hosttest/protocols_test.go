//go:build unix

package hosttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

type object = map[string]any

// A protocol is how a model provider is spoken to.
type protocol struct {
	path    string // part of the address
	results func(req object) int
	reply   func(w http.ResponseWriter, r *http.Request, req object, n int, c call)
}

// The first whose path matches answers.
var protocols = []protocol{
	{"/count_tokens", none, countTokens},
	{"/messages", messagesResults, messagesReply},
	{"/responses", responsesResults, responsesReply},
	{"/chat/completions", chatResults, chatReply},
	{":countTokens", none, countTokens},
	{"enerateContent", geminiResults, geminiReply},
}

func none(object) int { return 0 }

func countTokens(w http.ResponseWriter, _ *http.Request, _ object, _ int, _ call) {
	sendJSON(w, object{"input_tokens": 10, "totalTokens": 10})
}

// each calls f with every object in a list.
func each(list any, f func(object)) {
	items, _ := list.([]any)
	for _, it := range items {
		if o, ok := it.(object); ok {
			f(o)
		}
	}
}

// Anthropic's Messages.

func messagesResults(req object) (n int) {
	each(req["messages"], func(m object) {
		each(m["content"], func(part object) {
			if part["type"] == "tool_result" {
				n++
			}
		})
	})
	return n
}

func messagesReply(w http.ResponseWriter, _ *http.Request, req object, n int, c call) {
	block, full := object{"type": "text", "text": ""}, object{"type": "text", "text": c.text}
	delta := object{"type": "text_delta", "text": c.text}
	stop := "end_turn"
	if c.tool != "" {
		id := fmt.Sprintf("toolu_%04d", n)
		block = object{"type": "tool_use", "id": id, "name": c.tool, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": encode(c.args)}
		full = object{"type": "tool_use", "id": id, "name": c.tool, "input": c.args}
		stop = "tool_use"
	}
	message := object{"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": req["model"], "content": []object{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 1}}
	if req["stream"] != true {
		message["content"], message["stop_reason"] = []object{full}, stop
		sendJSON(w, message)
		return
	}
	sendEvents(w, true,
		object{"type": "message_start", "message": message},
		object{"type": "content_block_start", "index": 0, "content_block": block},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}},
		object{"type": "message_stop"})
}

// OpenAI's Responses.

func responsesResults(req object) (n int) {
	each(req["input"], func(it object) {
		switch it["type"] {
		case "function_call_output", "custom_tool_call_output", "tool_search_output":
			n++
		}
	})
	return n
}

func responsesReply(w http.ResponseWriter, _ *http.Request, req object, n int, c call) {
	id, callID := fmt.Sprintf("item_%d", n), fmt.Sprintf("call_%d", n)
	var item object
	var parts []object
	switch {
	case c.tool == "":
		item = object{
			"type":    "message",
			"id":      id,
			"role":    "assistant",
			"status":  "completed",
			"content": []object{{"type": "output_text", "text": c.text, "annotations": []any{}}},
		}
		parts = []object{{"type": "response.output_text.delta", "item_id": id, "output_index": 0, "content_index": 0, "delta": c.text}}
	case c.tool == "tool_search":
		item = object{"type": "tool_search_call", "id": id, "call_id": callID, "execution": "client", "arguments": c.args, "status": "completed"}
	case c.args == nil:
		item = object{"type": "custom_tool_call", "id": id, "call_id": callID, "name": c.tool, "input": c.text, "status": "completed"}
	default:
		item = object{"type": "function_call", "id": id, "call_id": callID, "name": c.tool, "arguments": encode(c.args), "status": "completed"}
		if at := strings.LastIndex(c.tool, "__"); at > 0 { // a tool of a server
			item["namespace"], item["name"] = c.tool[:at], c.tool[at+2:]
		}
		parts = []object{{"type": "response.function_call_arguments.done", "item_id": id, "output_index": 0, "arguments": encode(c.args)}}
	}
	response := func(status string, output ...object) object {
		return object{
			"id":         fmt.Sprintf("resp_%d", n),
			"object":     "response",
			"created_at": 1,
			"status":     status,
			"model":      req["model"],
			"output":     output,
			"usage": object{
				"input_tokens":          10,
				"input_tokens_details":  object{"cached_tokens": 0},
				"output_tokens":         5,
				"output_tokens_details": object{"reasoning_tokens": 0},
				"total_tokens":          15,
			},
		}
	}
	if req["stream"] == false {
		sendJSON(w, response("completed", item))
		return
	}
	events := []object{
		{"type": "response.created", "response": response("in_progress")},
		{"type": "response.output_item.added", "output_index": 0, "item": item},
	}
	events = append(events, parts...)
	events = append(events, object{
		"type":         "response.output_item.done",
		"output_index": 0,
		"item":         item,
	}, object{"type": "response.completed", "response": response("completed", item)})
	sendEvents(w, true, events...)
}

// OpenAI's Chat Completions.

func chatResults(req object) (n int) {
	each(req["messages"], func(m object) {
		if m["role"] == "tool" {
			n++
		}
	})
	return n
}

func chatReply(w http.ResponseWriter, _ *http.Request, req object, n int, c call) {
	delta, finish := object{"role": "assistant", "content": c.text}, "stop"
	if c.tool != "" {
		delta = object{
			"role":    "assistant",
			"content": nil,
			"tool_calls": []object{{"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
				"function": object{"name": c.tool, "arguments": encode(c.args)}}},
		}
		finish = "tool_calls"
	}
	usage := object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	envelope := func(kind string, choices ...object) object {
		return object{
			"id":      fmt.Sprintf("chatcmpl-%d", n),
			"created": 1,
			"model":   req["model"],
			"object":  kind,
			"choices": choices,
			"usage":   usage,
		}
	}
	if req["stream"] != true {
		sendJSON(w, envelope("chat.completion", object{"index": 0, "message": delta, "finish_reason": finish}))
		return
	}
	const chunk = "chat.completion.chunk"
	sendEvents(w, false,
		envelope(chunk, object{"index": 0, "delta": delta, "finish_reason": nil}),
		envelope(chunk, object{"index": 0, "delta": object{}, "finish_reason": finish}))
	io.WriteString(w, "data: [DONE]\n\n")
}

// Google's Gemini.

func geminiResults(req object) (n int) {
	each(req["contents"], func(c object) {
		each(c["parts"], func(p object) {
			if p["functionResponse"] != nil {
				n++
			}
		})
	})
	return n
}

func geminiReply(w http.ResponseWriter, r *http.Request, req object, _ int, c call) {
	part := object{"text": c.text}
	if c.tool != "" {
		part = object{"functionCall": object{"name": c.tool, "args": c.args}}
	} else if config, _ := req["generationConfig"].(object); config["responseMimeType"] == "application/json" {
		part["text"] = "{}"
	}
	answer := object{"candidates": []object{{"content": object{"role": "model", "parts": []object{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}, "modelVersion": "fake"}
	if strings.Contains(r.URL.Path, "stream") {
		sendEvents(w, false, answer)
		return
	}
	sendJSON(w, answer)
}

func encode(v any) string {
	j, err := json.Marshal(v)
	if err != nil {
		panic(err) // the script is ours
	}
	return string(j)
}

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, encode(v))
}

// sendEvents sends server-sent events, with their type as name if named.
func sendEvents(w http.ResponseWriter, named bool, events ...object) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if named {
			fmt.Fprintf(w, "event: %s\n", e["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", encode(e))
	}
}
