package badline

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// A Front is a TLS proxy in front of a server, as teams have one, with a
// certificate that only its own authority vouches for.
type Front struct {
	Addr      string // host and port, on this machine
	Authority []byte // PEM
	server    *http.Server
	gone      chan error
}

// Name is what the certificate of a Front is for, beside this machine.
const Name = "svc.example"

// NewFront puts a TLS proxy in front of the server at an http address. It
// speaks HTTP/2 with those who can.
func NewFront(server string) (*Front, error) {
	cert, authority, err := certify()
	if err != nil {
		return nil, err
	}
	return newFront(server, authority, &tls.Config{Certificates: []tls.Certificate{cert}})
}

// NewGuarded is NewFront with a proxy that lets in only who shows a certificate
// of its authority. It returns one, with its key, as PEM.
func NewGuarded(server string) (f *Front, own []byte, err error) {
	cert, authority, err := certify()
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return nil, nil, err
	}
	own = append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(authority)
	f, err = newFront(server, authority, &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: known,
		ClientAuth: tls.RequireAndVerifyClientCert})
	return f, own, err
}

func newFront(server string, authority []byte, secure *tls.Config) (*Front, error) {
	target, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	secure.MinVersion = tls.VersionTLS12
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		FlushInterval: -1, // streams
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	f := &Front{Addr: l.Addr().String(), Authority: authority, gone: make(chan error, 1)}
	f.server = &http.Server{Handler: proxy, TLSConfig: secure,
		ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	go func() { f.gone <- f.server.ServeTLS(l, "", "") }()
	return f, nil
}

// Close ends the proxy.
func (f *Front) Close() error {
	err := f.server.Close()
	if gone := <-f.gone; !errors.Is(gone, http.ErrServerClosed) {
		return errors.Join(err, gone)
	}
	return err
}

// certify makes an authority and a certificate of it for this machine.
func certify() (cert tls.Certificate, authority []byte, err error) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, err
	}
	from, until := time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "badline"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: from, NotAfter: until,
		DNSNames: []string{"localhost", Name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &rootKey.PublicKey, rootKey)
	if err != nil {
		return cert, nil, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, rootKey)
	if err != nil {
		return cert, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{leafDER, rootDER}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}), nil
}
