package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// pack writes an archive whose bytes depend on nothing but the files in it:
// one commit gives one archive, whoever builds it.
func pack(args []string) error {
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	out, at := flags.String("out", "", "the archive: .tar.gz, .tgz, .zip or .vsix"), flags.Int64("at", 0, "time of the files, in seconds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var all []packed
	for _, arg := range flags.Args() {
		name, file, ok := strings.Cut(arg, "=")
		if !ok || !path.IsAbs("/"+name) || strings.Contains(name, "..") {
			return fmt.Errorf("%q is not NAME=FILE", arg)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		p := packed{name: name, data: data, mode: 0o644}
		if info.Mode()&0o100 != 0 {
			p.mode = 0o755
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b packed) int { return strings.Compare(a.name, b.name) })
	f, err := os.Create(*out)
	if err != nil {
		return err
	}
	write := writeTar
	if strings.HasSuffix(*out, ".zip") || strings.HasSuffix(*out, ".vsix") {
		write = writeZip
	}
	return errors.Join(write(f, all, time.Unix(*at, 0).UTC()), f.Close())
}

type packed struct {
	name string
	data []byte
	mode int64
}

func writeTar(w io.Writer, all []packed, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, p := range all {
		h := &tar.Header{Name: p.name, Mode: p.mode, Size: int64(len(p.data)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(p.data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func writeZip(w io.Writer, all []packed, at time.Time) error {
	z := zip.NewWriter(w)
	for _, p := range all {
		h := &zip.FileHeader{Name: p.name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(p.mode))
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(p.data); err != nil {
			return err
		}
	}
	return z.Close()
}
