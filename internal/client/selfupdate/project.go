package selfupdate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Project is where the project publishes its releases: the newest one's files,
// latest.json among them. Another address, or off, may be set in its place.
const Project = Page + "/latest/download"

const (
	maxManifest  = 1 << 20
	manifestTime = 20 * time.Second
)

// ManifestAt returns the address of a manifest in a place of releases, "" where
// the setting says off.
func ManifestAt(setting string) string {
	switch setting = strings.TrimRight(strings.TrimSpace(setting), "/"); setting {
	case "":
		return Project + "/latest.json"
	case "off":
		return ""
	}
	return setting + "/latest.json"
}

// Fetch loads a manifest from such an address. Nothing is sent that says who
// asks, and what comes is trusted for its signature alone.
func Fetch(ctx context.Context, manifest string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, manifestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, manifest, nil)
	if err != nil || req.URL.Scheme != "https" && req.URL.Scheme != "http" {
		return nil, errors.Join(err, fmt.Errorf("SVC_RELEASES must be an address, or off; %q is neither", manifest))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s: there is no release", manifest, res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, maxManifest))
}
