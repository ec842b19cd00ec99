package main

import (
	"bytes"
	"os"
	"testing"
)

// Who changes what programs that start agents send or read changes their clients.
func TestTheClientsDocumentIsUpToDate(t *testing.T) {
	want, err := document(true)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("../../../clients/openapi.json"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("clients/openapi.json is not what the API's document says (%v): make clients", err)
	}
}

func TestAPartOfADocument(t *testing.T) {
	const doc = `{"paths":{"/a":{"get":{"operationId":"getA","x":{"$ref":"#/components/schemas/A"}},"post":{"operationId":"postA"}},
		"/b":{"get":{"operationId":"getB"}}},"webhooks":{},
		"components":{"schemas":{"A":{"b":[{"$ref":"#/components/schemas/B"}]},"B":{"format":"uuid"},"C":{}}}}`
	got, err := subset([]byte(doc), []string{"getA"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"components":{"schemas":{"A":{"b":[{"$ref":"#/components/schemas/B"}]},"B":{}}},` +
		`"info":{"title":"svc, for programs that start agents","version":"1"},` +
		`"paths":{"/a":{"get":{"operationId":"getA","x":{"$ref":"#/components/schemas/A"}}}}}`
	if tight := bytes.Join(bytes.Fields(got), nil); string(tight) != string(bytes.ReplaceAll([]byte(want), []byte(" "), nil)) {
		t.Errorf("got %s", tight)
	}
	if _, err := subset([]byte(doc), []string{"getA", "getC"}); err == nil {
		t.Error("an operation that is not there is no error")
	}
}
