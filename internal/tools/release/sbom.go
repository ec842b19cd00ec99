package main

import (
	"debug/buildinfo"
	"errors"
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// sbom writes what programs are linked from, as the Go linker noted it in
// them, in CycloneDX's own words.
func sbom(args []string) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	out, version := flags.String("out", "", "the file"), flags.String("version", "", "of the release")
	at := flags.Int64("at", 0, "time of the commit, in seconds")
	also := flags.String("also", "", "modules as path@version, separated by commas, of programs inside the programs")
	if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
		return errors.Join(err, errUsage)
	}
	modules := map[string]*debug.Module{}
	goVersion := ""
	for _, program := range flags.Args() {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return err
		}
		goVersion = info.GoVersion
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			modules[m.Path+"@"+m.Version] = m
		}
	}
	for key := range strings.SplitSeq(*also, ",") {
		if path, version, ok := strings.Cut(key, "@"); ok {
			modules[key] = &debug.Module{Path: path, Version: version}
		}
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: time.Unix(*at, 0).UTC().Format(time.RFC3339),
		Component: &cyclonedx.Component{BOMRef: "svc", Type: cyclonedx.ComponentTypeApplication, Name: "svc", Version: *version,
			PackageURL: "pkg:golang/github.com/svc-hq/svc@v" + *version,
			Licenses:   &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}}},
	}
	list := []cyclonedx.Component{{BOMRef: "go", Type: cyclonedx.ComponentTypeLibrary, Name: "std",
		Version: strings.TrimPrefix(goVersion, "go"), PackageURL: "pkg:golang/std@" + strings.TrimPrefix(goVersion, "go")}}
	for key, m := range modules {
		list = append(list, cyclonedx.Component{BOMRef: key, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
			PackageURL: "pkg:golang/" + key})
	}
	slices.SortFunc(list, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	refs := []string{}
	for _, c := range list {
		refs = append(refs, c.BOMRef)
	}
	bom.Components = &list
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: "svc", Dependencies: &refs}}
	f, err := os.Create(*out)
	if err != nil {
		return err
	}
	return errors.Join(cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom), f.Close())
}
