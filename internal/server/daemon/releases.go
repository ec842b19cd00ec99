package daemon

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// releases serves the client's release manifest and programs from a folder,
// as whoever released them put them there: the manifest is signed and passed
// on byte for byte. Without one it tells of this version, which offers
// nothing to install.
func releases(folder, version string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.ReleasePath, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		text, err := os.ReadFile(folder + "/latest.json")
		if errors.Is(err, fs.ErrNotExist) {
			none := wire.Release{Version: version, ReleasedAt: coord.Time(0), Artifacts: []wire.Artifact{}}
			json.NewEncoder(w).Encode(none)
			return
		}
		if err != nil {
			http.Error(w, "the release manifest cannot be read", http.StatusInternalServerError)
			return
		}
		w.Write(text)
	})
	files := http.FileServerFS(os.DirFS(folder))
	mux.HandleFunc("GET /cli/{name}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if strings.HasPrefix(name, ".") { // no hidden files, no listing
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		http.StripPrefix("/cli/", files).ServeHTTP(w, r)
	})
	return mux
}
