package post

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/svc-hq/svc/internal/client/clientcert"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/plain"
)

// Parsing the system's root store costs more than all the rest of a hook. So
// the authority that verified the server is remembered in a file beside the
// configuration and used alone, until it no longer verifies or a week has
// passed; then the whole store decides again.

const authorityAge = 7 * 24 * time.Hour

// dialTLS connects and verifies the server.
func (c *Client) dialTLS(ctx context.Context, address, name string) (net.Conn, error) {
	file := c.authorityFile(address)
	if roots := readAuthority(file); roots != nil {
		conn, err := c.handshake(ctx, address, name, roots)
		var bad *tls.CertificateVerificationError
		if err == nil || !errors.As(err, &bad) {
			return conn, err
		}
	}
	conn, err := c.handshake(ctx, address, name, nil)
	if bad := (*tls.CertificateVerificationError)(nil); errors.As(err, &bad) {
		return nil, &Fault{Words: "shows a certificate that this machine does not trust"}
	}
	if err != nil {
		return nil, err
	}
	if chains := conn.ConnectionState().VerifiedChains; len(chains) > 0 && file != "" {
		writeAuthority(file, chains[0][len(chains[0])-1])
	}
	return conn, nil
}

func (c *Client) handshake(ctx context.Context, address, name string, roots *x509.CertPool) (*tls.Conn, error) {
	raw, err := c.dialTCP(ctx, address)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{ServerName: name, RootCAs: roots, MinVersion: tls.VersionTLS12,
		GetClientCertificate: clientcert.From(c.Getenv)})
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return conn, nil
}

// authorityFile is where the authority of a server is remembered. The user's
// choice of another store is part of its name.
func (c *Client) authorityFile(address string) string {
	dir, err := c.ConfigDir()
	if err != nil || dir == "" {
		return ""
	}
	return filepath.Join(dir, "authority-"+spool.Hash(address, c.Getenv("SSL_CERT_FILE"), c.Getenv("SSL_CERT_DIR"))[:16]+".pem")
}

func readAuthority(file string) *x509.CertPool {
	if file == "" {
		return nil
	}
	info, err := os.Lstat(file)
	if err != nil || time.Since(info.ModTime()) > authorityAge {
		return nil
	}
	data, err := plain.ReadHere(file, plain.State)
	if err != nil {
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil
	}
	return pool
}

func writeAuthority(file string, cert *x509.Certificate) {
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
	_ = spool.Replace(file, data)
}
