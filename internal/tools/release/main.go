// Release makes what svc update installs:
//
//	release keygen -id 2027a -out release.key    # once; the printed line goes into RELEASE_KEYS
//	release sign -key release.key -version 1.2.3 dist/svc-linux-amd64 dist/svc-darwin-arm64
//
// Sign writes latest.json beside the programs, whose names tell their
// platform. A server offers the folder with --releases; it needs no key. The
// other commands are steps of .ci/release: archives, a list of what is linked
// in, a statement of what it was made of, signed checksums.
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: release keygen -id ID -out FILE, or release sign -key FILE -version X.Y.Z [-notes URL] [-days " +
	"N] svc-OS-ARCH...")

func run(args []string, stdout io.Writer, now time.Time) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case "keygen":
		return keygen(args[1:], stdout)
	case "sign":
		return sign(args[1:], stdout, now)
	case "public":
		return public(args[1:], stdout)
	case "pack":
		return pack(args[1:])
	case "sbom":
		return sbom(args[1:])
	case "provenance":
		return provenance(args[1:])
	case "sums":
		return sums(args[1:])
	}
	return errUsage
}

// keygen makes a key pair: the file holds the id and the private half.
func keygen(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("keygen", flag.ContinueOnError)
	id, out := flags.String("id", "", "name of the key, such as 2027a"), flags.String("out", "release.key", "file for the private key")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *id == "" || strings.ContainsAny(*id, "=, \n") {
		return fmt.Errorf("the key needs an -id without spaces, commas and =; %w", errUsage)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(*out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // never over another key
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s=%s\n", *id, base64.StdEncoding.EncodeToString(private.Seed()))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Fprintln(stdout, publicLine(*id, public))
	return nil
}

func publicLine(id string, key ed25519.PublicKey) string {
	return id + "=" + base64.StdEncoding.EncodeToString(key)
}

func readKey(file string) (id string, key ed25519.PrivateKey, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	id, text, _ := strings.Cut(strings.TrimSpace(string(data)), "=")
	seed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(seed) != ed25519.SeedSize {
		return "", nil, fmt.Errorf("%s holds no key that release keygen made", file)
	}
	return id, ed25519.NewKeyFromSeed(seed), nil
}

func sign(args []string, stdout io.Writer, now time.Time) error {
	flags := flag.NewFlagSet("sign", flag.ContinueOnError)
	file, version := flags.String("key", "release.key", "the private key"), flags.String("version", "", "the release's version")
	notes := flags.String("notes", "", "address of the release notes")
	at := flags.Int64("at", 0, "time of the release, in seconds (default: now)")
	days := flags.Int("days", 180, "days until clients no longer take this release for the newest")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errUsage
	}
	made := now
	if *at > 0 {
		made = time.Unix(*at, 0)
	}
	id, key, err := readKey(*file)
	if err != nil {
		return err
	}
	r := wire.Release{
		Version:    strings.TrimPrefix(*version, "v"),
		ReleasedAt: coord.TimeOf(made),
		ExpiresAt:  coord.TimeOf(made.AddDate(0, 0, *days)).Ptr(),
		NotesURL:   *notes,
	}
	for _, program := range flags.Args() {
		a, err := artifact(program)
		if err != nil {
			return err
		}
		r.Artifacts = append(r.Artifacts, a)
	}
	if r, err = selfupdate.Sign(r, id, key); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	public := selfupdate.Keys{id: key.Public().(ed25519.PublicKey)}
	if _, err := public.Verify(text, now); err != nil { // a client would refuse it, too
		return err
	}
	out := filepath.Join(filepath.Dir(flags.Arg(0)), filepath.Base(wire.ReleasePath))
	if err := os.WriteFile(out, append(text, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(stdout, out)
	return nil
}

func artifact(program string) (wire.Artifact, error) {
	name := filepath.Base(program)
	parts := strings.Split(strings.TrimSuffix(name, ".exe"), "-")
	if len(parts) != 3 || parts[0] != "svc" {
		return wire.Artifact{}, fmt.Errorf("%s: a program is named svc-OS-ARCH, such as svc-linux-amd64", program)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return wire.Artifact{}, err
	}
	sum := sha256.Sum256(data)
	return wire.Artifact{OS: parts[1], Arch: parts[2], URL: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}, nil
}
