//go:build unix

package hosttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// TestHostsTeamInAMinute takes what make release made to a team of two: Olga
// starts the container, and both install svc and log in, three commands at most
// for each. Then Bob's Claude Code sets out to change what Olga's is changing,
// in another clone, and is told.
func TestHostsTeamInAMinute(t *testing.T) {
	hosts := wanted(t)
	if len(hosts) == 0 || hosts[0].id != "claude_code" {
		return
	}
	h := hosts[0]
	claude, files := install(t, h), release(t)
	olga, bob := teammate(t, "olga", claude, files), teammate(t, "bob", claude, files)
	c := newContainers(t, files)

	begun := time.Now()
	url, link := c.serve("olga@example.com") // olga's first
	inBrowser := olga.accepts(url, link)
	olga.joins(url) // her second and third; bob has two
	var invite coord.Invite
	olga.post(inBrowser, url+"/v1/invites", object{"email": "bob@example.com", "role": "member"}, &invite)
	bob.accepts(url, *invite.URL)
	bob.joins(url)
	told := meetApart(h, olga.world, bob.world)
	took := told.Sub(begun)
	if told.IsZero() || took > minute {
		t.Errorf("from nothing to a warned edit took %v (zero: never warned)", took)
	}
	t.Logf("from nothing to a warned edit, in a team of two with a container: %v; svcd ran as %s", took.Round(100*time.Millisecond), c.user())
}

// meetApart has one person's session change a file, and the other's set out to
// change the same lines in a clone of its own. It returns when the other was
// told.
func meetApart(h row, one, other *world) (told time.Time) {
	var first script
	file := filepath.Join(one.repo, free)
	first.then(h.read(file), nil)
	first.then(h.edit(file, "first", "second"), func(string) {
		var second script
		same := filepath.Join(other.repo, free)
		second.then(h.read(same), nil)
		second.then(h.edit(same, "first", "third"), func(fresh string) {
			if strings.Contains(fresh, free) && strings.Contains(fresh, "INT-") {
				told = time.Now()
			}
		})
		other.drive(h, second.ends("Done."), "")
	})
	one.drive(h, first.ends("Done."), "")
	return told
}

// A colleague is a newcomer with a browser.
type colleague struct {
	*world
	name    string
	release string
	browser *http.Client
}

func teammate(t *testing.T, name string, host []string, release string) *colleague {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &colleague{world: newcomer(t, name, host, release, ""), name: name, release: release, browser: &http.Client{Jar: jar}}
	c.must("git", "remote", "add", "origin", "https://github.com/acme/shop.git")
	return c
}

// post sends what a page of the dashboard would.
func (c *colleague) post(browser *http.Client, url string, in, out any) {
	c.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), "POST", url, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Svc-CSRF", "1")
	res, err := browser.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(res.Body); err != nil || res.StatusCode >= 300 {
		c.t.Fatalf("%s: %d %v\n%s", url, res.StatusCode, err, answer.Bytes())
	}
	if out != nil {
		if err := json.Unmarshal(answer.Bytes(), out); err != nil {
			c.t.Fatal(err)
		}
	}
}

// accepts opens an invite's link and chooses a password.
func (c *colleague) accepts(url, link string) *http.Client {
	c.t.Helper()
	_, code, _ := strings.Cut(link, "#")
	c.post(c.browser, url+"/v1/auth/accept-invite", wire.AcceptInvite{Code: code, Name: c.name, Password: "a long enough one"}, nil)
	return c.browser
}

// joins installs svc and logs in, approving the code in the browser.
func (c *colleague) joins(url string) {
	c.t.Helper()
	c.must("env", "SVC_FROM="+c.release, "sh", filepath.Join(c.release, "install.sh"))
	said := make(chan string, 1)
	out := filepath.Join(c.home, "login.txt")
	go func() {
		_, err := c.run("sh", "-c", "svc login --server '"+url+"' --yes > '"+out+"' 2>&1")
		text, _ := os.ReadFile(out)
		said <- fmt.Sprintf("%v\n%s", err, text)
	}()
	code := regexp.MustCompile(`(?m)^Type +(\S+)`)
	await.True(c.t, "a code to type", func() bool {
		text, err := os.ReadFile(out)
		return err == nil && code.Match(text)
	})
	text, _ := os.ReadFile(out)
	c.post(c.browser, url+"/v1/auth/device/approve", object{"user_code": string(code.FindSubmatch(text)[1])}, nil)
	c.t.Log(c.name + ": " + <-said)
}

// containers runs the image of a release, as SVC_TEST_CONTAINER_USER if the
// tests run as root and that is set: without root is how people should.
type containers struct {
	t       *testing.T
	image   string
	home    string
	as      *syscall.Credential
	flags   []string
	running string
}

func newContainers(t *testing.T, release string) *containers {
	t.Helper()
	images, err := filepath.Glob(filepath.Join(release, "svc_*_linux_"+runtime.GOARCH+".oci.tar"))
	if err != nil || len(images) != 1 {
		t.Fatalf("images %v, %v: make release makes one where there is buildah", images, err)
	}
	c := &containers{t: t, image: images[0], flags: []string{"--cgroup-manager=cgroupfs", "--events-backend=file"}}
	if name := os.Getenv("SVC_TEST_CONTAINER_USER"); name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		c.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	if c.home, err = os.MkdirTemp("", "svc-containers-"); err != nil { // not in the test's own: storage keeps owners that only podman removes
		t.Fatal(err)
	}
	if c.as != nil {
		if err := os.Chown(c.home, int(c.as.Uid), int(c.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(c.home, "image.tar")
	data, err := os.ReadFile(c.image)
	if err == nil {
		err = os.WriteFile(copied, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.image = copied
	t.Cleanup(func() {
		c.podman("system", "reset", "--force")
		os.RemoveAll(c.home)
	})
	if out, err := c.podman("info", "--format", "{{.Host.CgroupsVersion}}"); err == nil && strings.Contains(out, "v1") {
		c.flags = append(c.flags, "--runtime=runc") // crun knows no such mixture
	}
	return c
}

func (c *containers) podman(args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "podman", append(append([]string{}, c.flags...), args...)...)
	cmd.Dir = c.home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "XDG_RUNTIME_DIR=" + c.home, "TMPDIR=" + c.home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// serve starts the service and returns its address and the owner's first link.
func (c *containers) serve(owner string) (url, link string) {
	c.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	addr := free.Addr().String()
	free.Close()
	url = "http://" + addr
	c.running = "svc-" + strings.ReplaceAll(addr, ":", "-")
	run := append([]string{"run", "-d", "--name", c.running, "--network=host", "--read-only", "--cap-drop=ALL",
		"--security-opt=no-new-privileges", "-v", "data:/data"}, limits...)
	out, err := c.podman(append(run, "oci-archive:"+c.image,
		"serve", "--addr", addr, "--data", "/data", "--public-url", url, "--owner", owner)...)
	if err != nil {
		c.t.Fatalf("podman run: %v\n%s", err, out)
	}
	said := regexp.MustCompile(`Dashboard: (\S+)`)
	await.True(c.t, "the service in the container", func() bool {
		out, err := c.podman("logs", c.running)
		if m := said.FindStringSubmatch(out); err == nil && m != nil {
			link = m[1]
		}
		return link != ""
	})
	return url, link
}

// limits are as many files and processes as svcd needs: podman of root asks for
// more than a machine may give to root that is itself in a container.
var limits = []string{"--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"}

// user is as whom the service runs: in the container, and on this machine.
func (c *containers) user() string {
	out, err := c.podman("top", c.running, "user", "huser")
	if err != nil {
		c.t.Error(err)
	}
	fields := strings.Fields(out)
	if len(fields) < 4 || fields[2] == "0" || fields[2] == "root" {
		c.t.Errorf("svcd in the container runs as %q", out)
		return out
	}
	return fields[2] + ", on the machine " + fields[3]
}
