package post

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
)

// newAuthority makes a certificate authority and a server certificate by it.
func newAuthority(t *testing.T) (ca *x509.Certificate, server tls.Certificate) {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	sign := func(template, parent *x509.Certificate, pub, by *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &pub.PublicKey, by)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	caKey, serverKey := key(), key()
	root := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: "test authority"},
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der := sign(root, root, caKey, caKey)
	ca, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	return ca, tls.Certificate{Certificate: [][]byte{sign(leaf, ca, serverKey, caKey), der}, PrivateKey: serverKey}
}

// One test holds all steps: the system's store is read once in a process.
func TestTheAuthorityThatVerifiedTheServerIsRemembered(t *testing.T) {
	ca, cert := newAuthority(t)
	store := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(store, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", store)
	t.Setenv("SSL_CERT_DIR", t.TempDir())
	serve := func(c tls.Certificate) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"decision":"allow"}`))
		}))
		s.TLS = &tls.Config{Certificates: []tls.Certificate{c}}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	config := t.TempDir()
	ask := func(s *httptest.Server) error {
		c := &Client{
			Server:    s.URL,
			Token:     "t",
			Getenv:    func(string) string { return "" },
			ConfigDir: func() (string, error) { return config, nil },
		}
		_, err := c.Evaluate(t.Context(), wire.HookRequest{})
		return err
	}
	remembered := func() []string {
		files, _ := filepath.Glob(filepath.Join(config, "authority-*.pem"))
		return files
	}
	good := serve(cert)
	if err := ask(good); err != nil {
		t.Fatalf("with the system's store: %v", err)
	}
	files := remembered()
	if len(files) != 1 {
		t.Fatalf("remembered %v", files)
	}
	pinned := readAuthority(files[0])
	if pinned == nil {
		t.Fatal("what was remembered cannot be read")
	}
	conn, err := (&Client{Getenv: os.Getenv}).handshake(t.Context(), good.Listener.Addr().String(), "127.0.0.1", pinned)
	if err != nil {
		t.Fatalf("with the remembered authority alone: %v", err)
	}
	conn.Close()

	// A wrong memory must not lock anybody out, nor let anybody in.
	strange, strangeCert := newAuthority(t)
	writeAuthority(files[0], strange)
	if err := ask(good); err != nil {
		t.Errorf("a changed authority was not looked up again: %v", err)
	}
	if err := ask(serve(strangeCert)); err == nil {
		t.Error("a server that the system does not trust was trusted")
	}
	old := time.Now().Add(-authorityAge - time.Hour)
	if err := os.Chtimes(files[0], old, old); err != nil {
		t.Fatal(err)
	}
	if readAuthority(files[0]) != nil {
		t.Error("an old memory counts for ever")
	}
	if err := ask(good); err != nil || readAuthority(files[0]) == nil {
		t.Errorf("it was not renewed: %v", err)
	}
}
