// Package clientcert shows a certificate of the person's to a server that asks
// for one, as companies' proxies do (mTLS). Whether the server is who it says is
// not checked here: that stays with whoever connects.
package clientcert

import (
	"cmp"
	"crypto/tls"
	"net/http"

	"github.com/svc-hq/svc/internal/core/wire"
)

// From returns what shows the certificate that the environment names, nil if it
// names none. The files are read when a server asks: they may be renewed at any
// time. The key may be in the file of the certificate.
func From(getenv func(string) string) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	cert := getenv(wire.ClientCert)
	if cert == "" {
		return nil
	}
	key := cmp.Or(getenv(wire.ClientKey), cert)
	return func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		return &pair, err
	}
}

// Transport is http.DefaultTransport, with the certificate if there is one.
func Transport(getenv func(string) string) *http.Transport {
	t := http.DefaultTransport.(*http.Transport)
	if show := From(getenv); show != nil {
		t = t.Clone()
		t.TLSClientConfig = &tls.Config{GetClientCertificate: show, MinVersion: tls.VersionTLS12}
	}
	return t
}
