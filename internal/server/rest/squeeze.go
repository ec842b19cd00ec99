package rest

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

// squeezeFrom is the size of an answer from which on it is worth packing:
// below it, headers outweigh what is saved.
const squeezeFrom = 1 << 10

var packers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil { // the level is a constant
		panic(err)
	}
	return w
}}

// squeezed returns an answer's body as it travels: packed, if it is large and
// the caller can unpack it. It sets the headers that say so.
func squeezed(h http.Header, r *http.Request, body []byte) []byte {
	if len(body) < squeezeFrom {
		return body
	}
	h.Add("Vary", "Accept-Encoding")
	if !takesGzip(r.Header.Values("Accept-Encoding")) {
		return body
	}
	var packed bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&packed)
	if _, err := w.Write(body); err != nil || w.Close() != nil {
		return body // a buffer takes everything
	}
	h.Set("Content-Encoding", "gzip")
	return packed.Bytes()
}

// takesGzip reads Accept-Encoding: gzip or anything, unless with a weight of
// nothing.
func takesGzip(accept []string) bool {
	for _, part := range strings.Split(strings.Join(accept, ","), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "gzip" && name != "*" {
			continue
		}
		value, given := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
		if !given || strings.Trim(value, "0.") != "" {
			return true
		}
	}
	return false
}
