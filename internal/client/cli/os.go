package cli

import (
	"errors"
	"net/url"
	"os"
	"os/exec"
	"runtime"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/selfupdate"
)

// OS returns the Env of this process.
func OS() *app.Env {
	dir, _ := os.Getwd()
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown host"
	}
	keys, err := selfupdate.CompiledKeys()
	if err != nil {
		keys = nil // a broken build: it then trusts nobody
	}
	return &app.Env{Screen: term.OS(), Dir: dir, Hostname: host, ReleaseKeys: keys, OpenBrowser: openBrowser, Started: os.Args}
}

// openBrowser shows an http address with the system's own opener. Nothing else
// is opened: the address came from a server.
func openBrowser(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("not a web address")
	}
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", u.String())
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", u.String())
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("WSL_DISTRO_NAME") == "" {
			return errors.New("no display")
		}
		cmd = exec.Command("xdg-open", u.String())
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
