// Package stripetest runs stripe-mock, Stripe's own stand-in, for tests: it
// checks every request against Stripe's published document and answers with
// the objects that are in it. It keeps nothing.
package stripetest

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Sign returns the header with which Stripe signs a webhook.
func Sign(body []byte, secret string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%x", at.Unix(), mac.Sum(nil))
}

// Start builds and runs stripe-mock until the test ends, and returns its
// address.
func Start(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "stripe-mock")
	if out, err := exec.Command("go", "build", "-modfile="+filepath.Join(root(t), ".ci", "go.mod"), "-o", program,
		"github.com/stripe/stripe-mock").CombinedOutput(); err != nil {
		t.Fatalf("build stripe-mock: %v\n%s", err, out)
	}
	cmd := exec.Command(program, "-http-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for line := bufio.NewScanner(out); line.Scan(); {
		if _, addr, ok := strings.Cut(line.Text(), "Listening for HTTP at address: "); ok {
			return "http://" + strings.TrimSpace(addr)
		}
	}
	t.Fatal("stripe-mock did not say where it listens")
	return ""
}

// root is the folder of the repository.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = up
	}
}
