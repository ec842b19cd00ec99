package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sums writes SHA256SUMS of a folder's files and its signature, which
// openssl pkeyutl -verify -rawin checks.
func sums(args []string) error {
	flags := flag.NewFlagSet("sums", flag.ContinueOnError)
	file := flags.String("key", "release.key", "the private key")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		return errors.Join(err, errUsage)
	}
	_, key, err := readKey(*file)
	if err != nil {
		return err
	}
	dir := flags.Arg(0)
	list, err := digests(dir)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, d := range list {
		fmt.Fprintf(&text, "%s  %s\n", d.Digest.SHA256, d.Name)
	}
	if err := os.WriteFile(filepath.Join(dir, sumsName), []byte(text.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sumsName+".sig"), ed25519.Sign(key, []byte(text.String())), 0o644)
}

const sumsName = "SHA256SUMS"

// public prints the public half of a key as PEM, for install.sh, or as svc
// update wants it.
func public(args []string, stdout interface{ Write([]byte) (int, error) }) error {
	flags := flag.NewFlagSet("public", flag.ContinueOnError)
	file := flags.String("key", "release.key", "the private key")
	asPEM := flags.Bool("pem", false, "as PEM")
	if err := flags.Parse(args); err != nil {
		return err
	}
	id, key, err := readKey(*file)
	if err != nil {
		return err
	}
	half := key.Public().(ed25519.PublicKey)
	if !*asPEM {
		_, err = fmt.Fprintln(stdout, publicLine(id, half))
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(half)
	if err != nil {
		return err
	}
	return pem.Encode(stdout, &pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// A subject is a file by its digest, as in-toto has it.
type subject struct {
	Name   string `json:"name"`
	Digest struct {
		SHA256 string `json:"sha256"`
	} `json:"digest"`
}

func digests(dir string) (all []subject, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), sumsName) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		s := subject{Name: e.Name()}
		s.Digest.SHA256 = hex.EncodeToString(sum[:])
		all = append(all, s)
	}
	return all, nil
}

// provenance writes what the files were made of and how: an in-toto statement
// with SLSA's predicate. Its signature is that of SHA256SUMS, which lists it.
func provenance(args []string) error {
	flags := flag.NewFlagSet("provenance", flag.ContinueOnError)
	version, commit := flags.String("version", "", "of the release"), flags.String("commit", "", "that it was built from")
	at, tools := flags.Int64("at", 0, "time of the commit, in seconds"), flags.String("tools", "", "versions of what built it")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		return errors.Join(err, errUsage)
	}
	dir := flags.Arg(0)
	subjects, err := digests(dir)
	if err != nil {
		return err
	}
	type m = map[string]any
	text, err := json.MarshalIndent(m{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": m{
			"buildDefinition": m{
				"buildType":          "https://github.com/svc-hq/svc/blob/main/docs/releasing.md",
				"externalParameters": m{"version": *version, "command": "make release"},
				"internalParameters": m{"tools": strings.Split(*tools, ";")},
				"resolvedDependencies": []m{{
					"uri":    "git+https://github.com/svc-hq/svc",
					"digest": m{"gitCommit": *commit},
				}},
			},
			"runDetails": m{
				"builder":  m{"id": "https://github.com/svc-hq/svc/blob/main/.ci/release"},
				"metadata": m{"invocationId": *commit, "startedOn": time.Unix(*at, 0).UTC().Format(time.RFC3339)},
			},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "provenance.intoto.json"), append(text, '\n'), 0o644)
}
