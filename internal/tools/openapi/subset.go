package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

type object = map[string]any

// subset returns the part of a document that some operations need, indented and
// in order: a program that calls few of them wants no client of all.
func subset(document []byte, operations []string) ([]byte, error) {
	var doc object
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	paths := object{}
	found := 0
	all, _ := doc["paths"].(object)
	for path, methods := range all {
		item, _ := methods.(object)
		for method, op := range item {
			about, _ := op.(object)
			id, _ := about["operationId"].(string)
			if !slices.Contains(operations, id) {
				continue
			}
			found++
			if paths[path] == nil {
				paths[path] = object{}
			}
			paths[path].(object)[method] = plain(op)
		}
	}
	if found != len(operations) {
		return nil, fmt.Errorf("the document has %d of %d operations", found, len(operations))
	}
	components, _ := doc["components"].(object)
	schemas, _ := components["schemas"].(object)
	kept := object{}
	for todo := refs(paths); len(todo) > 0; {
		name := todo[0]
		if todo = todo[1:]; kept[name] == nil {
			kept[name] = plain(schemas[name])
			todo = append(todo, refs(kept[name])...)
		}
	}
	doc["paths"], doc["components"] = paths, object{"schemas": kept}
	doc["info"] = object{"title": "svc, for programs that start agents", "version": "1"}
	delete(doc, "servers")
	delete(doc, "tags")
	delete(doc, "webhooks")
	delete(doc, "security")
	out, err := json.MarshalIndent(doc, "", " ")
	return append(out, '\n'), err
}

const prefix = "#/components/schemas/"

// refs are the schemas that a part of a document names.
func refs(part any) (out []string) {
	switch p := part.(type) {
	case object:
		for key, value := range p {
			if text, ok := value.(string); ok && key == "$ref" {
				out = append(out, strings.TrimPrefix(text, prefix))
				continue
			}
			out = append(out, refs(value)...)
		}
	case []any:
		for _, value := range p {
			out = append(out, refs(value)...)
		}
	}
	return out
}

// refOrNumber reports whether a value may be a text or, in its place, a number:
// a typed client sends the text.
func refOrNumber(schema object) bool {
	choice, _ := schema["anyOf"].([]any)
	if choice == nil {
		choice, _ = schema["oneOf"].([]any)
	}
	kinds := ""
	for _, one := range choice {
		of, _ := one.(object)
		kinds += fmt.Sprint(of["type"], " ")
	}
	return kinds == "string integer "
}

// plain leaves out what makes generators ask for packages of their own: formats
// of texts other than times, examples, and who may call.
func plain(part any) any {
	switch p := part.(type) {
	case object:
		if refOrNumber(p) {
			return object{"type": "string"}
		}
		out := object{}
		for key, value := range p {
			if format, ok := value.(string); ok && key == "format" && (format == "uuid" || format == "email" || format == "uri") {
				continue
			}
			if key != "example" && key != "security" {
				out[key] = plain(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(p))
		for i, value := range p {
			out[i] = plain(value)
		}
		return out
	}
	return part
}
