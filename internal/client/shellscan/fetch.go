package shellscan

import (
	"net/url"
	"path"
	"strings"
)

func curl(s *scanner, c call) {
	opts, ops := c.parse("-o -H -d -X -u -A -e -F -b -c -T -m --output --header --data --request --user --output-dir --retry " +
		"--max-time --data-binary --data-raw --cacert")
	dir := ""
	if v, ok := opts["--output-dir"]; ok && v.ok {
		dir = v.s
	}
	if v, ok := opts.get("-o", "--output"); ok {
		s.write(value{path.Join(dir, v.s), v.glob, v.ok}, Write{Kind: File})
	} else if opts.has("-O", "--remote-name") {
		for _, v := range ops {
			s.write(urlName(v, dir), Write{Kind: File})
		}
	}
}

func wget(s *scanner, c call) {
	opts, ops := c.parse("-O -P -o -U --output-document --directory-prefix --header --tries --timeout -T -t")
	if v, ok := opts.get("-O", "--output-document"); ok {
		s.write(v, Write{Kind: File})
		return
	}
	dir := ""
	if v, ok := opts.get("-P", "--directory-prefix"); ok {
		dir = v.s
	}
	for _, v := range ops {
		s.write(urlName(v, dir), Write{Kind: File})
	}
}

// urlName returns the file a download is stored in by default.
func urlName(v value, dir string) value {
	u, err := url.Parse(v.s)
	if err != nil || !v.ok {
		return value{}
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" {
		name = "index.html"
	}
	return literal(path.Join(dir, name))
}

// tar understands the old style without a dash too: tar xzf a.tgz.
func tar(s *scanner, c call) {
	if len(c.args) > 0 && !strings.HasPrefix(c.args[0].s, "-") && c.args[0].ok {
		c.args = append([]value{literal("-" + c.args[0].s)}, c.args[1:]...)
	}
	opts, ops := c.parse("-f -C --file --directory --exclude --strip-components -T --to-command --checkpoint-action --checkpoint")
	for _, name := range []string{"--to-command", "--checkpoint-action"} {
		if v, ok := opts[name]; ok {
			s.aside(strings.TrimPrefix(v.s, "exec="))
		}
	}
	switch {
	case opts.has("-x", "--extract", "--get"):
		if opts.has("-O", "--to-stdout") {
			return
		}
		dir, ok := opts.get("-C", "--directory")
		if !ok {
			dir = literal(".")
		}
		if len(ops) > 0 && !opts.has("--strip-components") {
			s.in(dir, func() { s.writeAll(ops, File) })
			return
		}
		if c.in.archive != nil { // of this repository: what is in it is known
			s.in(dir, func() {
				for _, v := range c.in.archive {
					kind := File
					switch whole := v.s == "." || strings.HasSuffix(v.s, "/"); {
					case whole && dir.s == ".":
						kind = Tree
					case whole: // the same names, elsewhere
						kind = Under
					}
					s.write(v, Write{Kind: kind})
				}
			})
			return
		}
		s.write(dir, Write{Kind: Under})
	case opts.has("-c", "-r", "-u", "--create", "--append", "--update"):
		if f, ok := opts.get("-f", "--file"); ok {
			s.write(f, Write{Kind: File})
		}
	}
}

func unzip(s *scanner, c call) {
	opts, ops := c.parse("-d -x")
	if opts.has("-l", "-p", "-t", "-v", "-Z") {
		return
	}
	dir, ok := opts["-d"]
	if !ok {
		dir = literal(".")
	}
	if len(ops) > 1 {
		s.in(dir, func() { s.writeAll(ops[1:], File) })
		return
	}
	s.write(dir, Write{Kind: Under})
}
