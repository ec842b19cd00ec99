// Package traces sends spans to an OpenTelemetry collector, as OTLP over HTTP in
// JSON. OpenTelemetry's own exporter would bring gRPC into every build, which
// nothing here speaks.
package traces

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// An Exporter sends spans to one collector.
type Exporter struct {
	address string
	header  http.Header
	client  *http.Client
}

// To returns an exporter to the collector at an address. One without a path,
// such as http://collector:4318, stands for the path that OTLP names. Headers
// are as in OTEL_EXPORTER_OTLP_HEADERS: name=value,name=value.
func To(address, headers string) (*Exporter, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for pair := range strings.SplitSeq(headers, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		if value, err = url.PathUnescape(strings.TrimSpace(value)); err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
		}
		header.Set(strings.TrimSpace(name), value)
	}
	return &Exporter{address: u.String(), header: header, client: &http.Client{Timeout: 10 * time.Second}}, nil
}

// ExportSpans sends spans, and tries again for as long as ctx lasts when the
// collector says that it cannot take them now.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := json.Marshal(request(spans))
	if err != nil {
		return err
	}
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		after, err := e.post(ctx, body)
		if after < 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(after, wait)):
		}
	}
}

// Shutdown has nothing to do: each export is a request of its own.
func (e *Exporter) Shutdown(context.Context) error { return nil }

// post sends one request. What it returns is how long the collector wants to be
// left alone before the next try, and -1 if there is to be none.
func (e *Exporter) post(ctx context.Context, body []byte) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	req.Header = e.header
	res, err := e.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(res.Body, 4096))
	err = fmt.Errorf("the collector of traces answered %s: %.200s", res.Status, said)
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return time.Duration(max(seconds, 0)) * time.Second, err
	}
	if res.StatusCode/100 == 2 {
		return -1, rejected(said)
	}
	return -1, err
}

// rejected is what a collector says of spans that it took and threw away.
func rejected(said []byte) error {
	var answer struct {
		PartialSuccess struct {
			RejectedSpans json.Number `json:"rejectedSpans"`
			ErrorMessage  string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(said, &answer) != nil { // a collector may answer in another form, or with nothing
		return nil
	}
	if n := answer.PartialSuccess.RejectedSpans; n != "" && n != "0" {
		return fmt.Errorf("the collector of traces rejected %s spans: %.200s", n, answer.PartialSuccess.ErrorMessage)
	}
	return nil
}

// The shapes of opentelemetry-proto in JSON: ids are hexadecimal, 64-bit numbers
// are strings, and spans of one library stand together.
type (
	payload struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	span struct {
		TraceID      string     `json:"traceId"`
		SpanID       string     `json:"spanId"`
		TraceState   string     `json:"traceState,omitempty"`
		ParentSpanID string     `json:"parentSpanId,omitempty"`
		Flags        uint32     `json:"flags"`
		Name         string     `json:"name"`
		Kind         int        `json:"kind"`
		Start        int64      `json:"startTimeUnixNano,string"`
		End          int64      `json:"endTimeUnixNano,string"`
		Attributes   []keyValue `json:"attributes,omitempty"`
		Dropped      int        `json:"droppedAttributesCount,omitempty"`
		Events       []event    `json:"events,omitempty"`
		Links        []link     `json:"links,omitempty"`
		Status       status     `json:"status"`
	}
	event struct {
		Time       int64      `json:"timeUnixNano,string"`
		Name       string     `json:"name"`
		Attributes []keyValue `json:"attributes,omitempty"`
	}
	link struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		Attributes []keyValue `json:"attributes,omitempty"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

func request(spans []sdk.ReadOnlySpan) payload {
	var out resourceSpans
	place := map[scope]int{}
	for _, s := range spans {
		out.Resource.Attributes = attributes(s.Resource().Attributes()) // one program has one
		from := s.InstrumentationScope()
		key := scope{from.Name, from.Version}
		i, known := place[key]
		if !known {
			i, place[key] = len(out.ScopeSpans), len(out.ScopeSpans)
			out.ScopeSpans = append(out.ScopeSpans, scopeSpans{Scope: key})
		}
		out.ScopeSpans[i].Spans = append(out.ScopeSpans[i].Spans, spanOf(s))
	}
	return payload{[]resourceSpans{out}}
}

func spanOf(s sdk.ReadOnlySpan) span {
	own, parent := s.SpanContext(), s.Parent()
	out := span{TraceID: own.TraceID().String(), SpanID: own.SpanID().String(), TraceState: own.TraceState().String(),
		Flags: uint32(own.TraceFlags()) | 1<<8, Name: s.Name(), Kind: kinds[s.SpanKind()], Start: s.StartTime().UnixNano(),
		End: s.EndTime().UnixNano(), Attributes: attributes(s.Attributes()), Dropped: s.DroppedAttributes()}
	if parent.SpanID().IsValid() {
		out.ParentSpanID = parent.SpanID().String()
	}
	if parent.IsRemote() {
		out.Flags |= 1 << 9
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, event{e.Time.UnixNano(), e.Name, attributes(e.Attributes)})
	}
	for _, l := range s.Links() {
		out.Links = append(out.Links, link{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String(), attributes(l.Attributes)})
	}
	switch s.Status().Code {
	case codes.Ok:
		out.Status.Code = 1
	case codes.Error:
		out.Status = status{s.Status().Description, 2}
	}
	return out
}

var kinds = map[trace.SpanKind]int{trace.SpanKindInternal: 1, trace.SpanKindServer: 2, trace.SpanKindClient: 3,
	trace.SpanKindProducer: 4, trace.SpanKindConsumer: 5}

func attributes(list []attribute.KeyValue) (out []keyValue) {
	for _, a := range list {
		out = append(out, keyValue{string(a.Key), value(a.Value)})
	}
	return out
}

func value(v attribute.Value) map[string]any {
	switch v.Type() {
	case attribute.BOOL:
		return map[string]any{"boolValue": v.AsBool()}
	case attribute.INT64:
		return map[string]any{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return map[string]any{"doubleValue": v.AsFloat64()}
	case attribute.STRINGSLICE:
		list := []map[string]any{}
		for _, s := range v.AsStringSlice() {
			list = append(list, map[string]any{"stringValue": s})
		}
		return map[string]any{"arrayValue": map[string]any{"values": list}}
	}
	return map[string]any{"stringValue": v.String()} // other lists as their text
}
