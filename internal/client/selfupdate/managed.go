package selfupdate

import (
	"os"
	"path/filepath"
	"strings"
)

// A manager is a package manager, known by where it installs.
type manager struct {
	name    string
	part    string // of the program's path, with forward slashes
	command string
}

var managers = []manager{
	{"Homebrew", "/Cellar/", "brew upgrade svc"},
	{"Homebrew", "/homebrew/", "brew upgrade svc"},
	{"Nix", "/nix/store/", "nix profile upgrade svc"},
	{"Snap", "/snap/", "sudo snap refresh svc"},
	{"Flatpak", "/flatpak/", "flatpak update svc"},
	{"npx", "/_npx/", "npx @svc-hq/svc@latest up"},
	{"npm", "/node_modules/", "npm install --global @svc-hq/svc@latest"},
	{"Scoop", "/scoop/apps/", "scoop update svc"},
	{"Chocolatey", "/chocolatey/", "choco upgrade svc"},
	{"WinGet", "/WinGet/Packages/", "winget upgrade svc"},
	{"mise", "/mise/installs/", "mise upgrade svc"},
	{"asdf", "/.asdf/installs/", "asdf install svc latest"},
	{"Guix", "/gnu/store/", "guix upgrade svc"},
}

// systems are the package managers that own /usr/bin, known by their records.
var systems = []struct{ name, record, command string }{
	{"a Debian package", "/var/lib/dpkg/info/svc.list", "sudo apt install ./svc_VERSION_ARCH.deb, with the newest of " + Page},
	{"pacman", "/var/lib/pacman/local", "sudo pacman -Syu svc"},
	{"apk", "/lib/apk/db/installed", "sudo apk upgrade svc"},
	{"dnf", "/var/lib/dnf", "sudo dnf upgrade svc"},
	{"rpm", "/var/lib/rpm", "sudo zypper update svc"},
}

// Page is where people find the releases.
const Page = "https://github.com/svc-hq/svc/releases"

// ManagedBy returns which package manager installed the program at path, and
// the command that updates it; ok is false if none did.
func ManagedBy(path string) (name, command string, ok bool) {
	slashed := filepath.ToSlash(path)
	for _, m := range managers {
		if strings.Contains(strings.ToLower(slashed), strings.ToLower(m.part)) {
			return m.name, m.command, true
		}
	}
	if !strings.HasPrefix(slashed, "/usr/bin/") && !strings.HasPrefix(slashed, "/usr/sbin/") && !strings.HasPrefix(slashed, "/bin/") {
		return "", "", false
	}
	for _, s := range systems {
		if _, err := os.Stat(s.record); err == nil {
			return s.name, s.command, true
		}
	}
	return "the system", "its package manager", true
}
