package shellscan

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A rule notes what one command writes.
type rule func(*scanner, call)

// ruleTable returns the commands that write files named by their arguments,
// and those that run other commands. Like all tables here it is made when it
// is needed: a hook that sees no command should not pay for it.
func ruleTable() map[string]rule {
	return map[string]rule{
		"cd":       cd,
		"pushd":    cd,
		"popd":     func(s *scanner, _ call) { s.lost = true },
		"export":   setVariables,
		"readonly": setVariables,
		"local":    setVariables,

		"tee":      tee,
		"sponge":   operands("", File),
		"touch":    operands("-d -r -t --date --reference", File),
		"truncate": operands("-s -r --size --reference", File),
		"unlink":   operands("", File),
		"shred":    operands("-n -s --iterations --size", File),
		"dos2unix": operands("", File),
		"unix2dos": operands("", File),
		"black":    unless("-l -t --line-length --target-version --config", "--check", "--diff"),
		"isort":    unless("-l --line-length --profile", "-c", "--check", "--check-only", "--diff"),
		"rustfmt":  unless("--config --edition", "--check"),
		"stylua":   unless("", "--check"),

		"gofmt":        when("-r", "-w"),
		"goimports":    when("-local", "-w"),
		"shfmt":        when("-i -ln", "-w", "--write"),
		"clang-format": when("-style --style", "-i"),
		"autopep8":     when("--max-line-length", "-i", "--in-place"),
		"yapf":         when("--style", "-i", "--in-place"),
		"prettier":     when("--config --parser --tab-width --print-width", "--write", "-w"),
		"eslint":       when("-c --config --ext --rule", "--fix"),
		"biome": subcommand(map[string]rule{
			"format": when("", "--write"),
			"check":  when("", "--write", "--apply"),
			"lint":   when("", "--write"),
		}),
		"ruff": subcommand(map[string]rule{
			"format": unless("--config", "--check", "--diff"),
			"check":  when("--select --ignore --config", "--fix"),
		}),
		"yq": afterFirst("", "-i", "--inplace"),

		"rm":          remove,
		"rmdir":       func(*scanner, call) {},
		"mkdir":       func(*scanner, call) {},
		"mv":          move,
		"cp":          copyFiles,
		"install":     install,
		"ln":          link,
		"rsync":       rsync,
		"dd":          dd,
		"chmod":       chmod,
		"sed":         sed,
		"gsed":        sed,
		"awk":         awk,
		"gawk":        awk,
		"sort":        sortOut,
		"ed":          operands("-p", File),
		"ex":          operands("-c", File),
		"vi":          editor("-c --cmd -S -u", "-R", "-M", "--version", "--help"),
		"vim":         editor("-c --cmd -S -u", "-R", "-M", "--version", "--help"),
		"nvim":        editor("-c --cmd -S -u", "-R", "-M", "--version", "--help"),
		"nano":        editor("-T -o -r -s", "-v", "--view", "--version", "--help"),
		"emacs":       editor("-f -l --eval --load --funcall -eval --script", "--version", "--help"),
		"sd":          afterSecond,
		"scp":         scp,
		"script":      optionRuns("-c --command", "-T -O -I -B -m"),
		"flock":       flock,
		"parallel":    parallel,
		"openssl":     outputs("-out", "-in -inkey -keyout -passin -passout -subj -days -config"),
		"gpg":         outputs("-o --output", "-r -u --recipient --local-user"),
		"gcc":         outputs("-o", "-x -I -L -l -D"),
		"cc":          outputs("-o", "-x -I -L -l -D"),
		"clang":       outputs("-o", "-x -I -L -l -D"),
		"rustc":       outputs("-o", "--crate-name --crate-type --edition"),
		"curl":        curl,
		"wget":        wget,
		"tar":         tar,
		"bsdtar":      tar,
		"unzip":       unzip,
		"zip":         firstOperand,
		"7z":          func(s *scanner, _ call) { s.readOnly = false },
		"gzip":        compress(".gz"),
		"bzip2":       compress(".bz2"),
		"xz":          compress(".xz"),
		"zstd":        compress(".zst"),
		"gunzip":      decompress(".gz"),
		"bunzip2":     decompress(".bz2"),
		"unxz":        decompress(".xz"),
		"patch":       applyPatch,
		"apply_patch": applyPatch,
		"applypatch":  applyPatch,
		"git":         git,
		"jj":          jujutsu,
		"svc":         svc,
		"svc.exe":     svc,
		"pkill":       endsProgram,
		"killall":     endsProgram,
		"find":        find,
		"fd": func(s *scanner, c call) {
			s.readOnly = s.readOnly && !hasAny(c.args, "-x", "-X", "--exec", "--exec-batch")
		},
		"uniq":    second("-f -s -w"),
		"xxd":     second("-c -g -l -o -s -n"),
		"trap":    trapped,
		"tree":    treeList,
		"gh":      readsIf("view list status diff checks api search auth browse watch"),
		"docker":  readsIf("ps images logs inspect version info top stats port ls history search events diff"),
		"podman":  readsIf("ps images logs inspect version info top stats port ls history search events diff"),
		"kubectl": readsIf("get describe logs top version explain api-resources cluster-info"),
		"go": subcommand(map[string]rule{"get": writes("go.mod", "go.sum"), "mod": goMod, "fmt": under, "work": writes("go.work"),
			"vet": reads, "list": reads, "version": reads, "env": reads, "doc": reads}),
		"npm": subcommand(map[string]rule{
			"install":   npmInstall,
			"i":         npmInstall,
			"add":       npmInstall,
			"uninstall": npmInstall,
			"ls":        reads,
			"view":      reads,
			"exec":      wrapped(0),
		}),
		"pnpm": subcommand(map[string]rule{
			"add":     writes("package.json", "pnpm-lock.yaml"),
			"install": writes("pnpm-lock.yaml"),
			"exec":    wrapped(0),
			"dlx":     wrapped(0),
		}),
		"yarn": subcommand(map[string]rule{
			"add":    writes("package.json", "yarn.lock"),
			"remove": writes("package.json", "yarn.lock"),
			"exec":   wrapped(0),
		}),
		"cargo": subcommand(map[string]rule{"add": writes("Cargo.toml", "Cargo.lock"), "fmt": under, "check": reads, "tree": reads}),

		"sudo":       wrapped(0, "-u", "-g", "-C"),
		"doas":       wrapped(0, "-u"),
		"nohup":      wrapped(0),
		"time":       wrapped(0),
		"command":    wrapped(0),
		"builtin":    wrapped(0),
		"exec":       wrapped(0),
		"nice":       wrapped(0, "-n"),
		"ionice":     wrapped(0, "-c", "-n"),
		"timeout":    wrapped(1, "-k", "-s"),
		"stdbuf":     wrapped(0, "-o", "-i", "-e"),
		"setsid":     wrapped(0),
		"chronic":    wrapped(0),
		"caffeinate": wrapped(0),
		"npx":        wrapped(0, "-p", "--package"),
		"bunx":       wrapped(0),
		"busybox":    wrapped(0),
		"uvx":        wrapped(0),
		"env":        env,
		"xargs":      xargs,
		"uv":         subcommand(map[string]rule{"run": wrapped(0)}),
		"poetry":     subcommand(map[string]rule{"run": wrapped(0)}),
		"eval":       func(s *scanner, c call) { s.script(joined(c.args)) },
		"source":     sourced,
		".":          sourced,
		"make":       unknown,
	}
}

// readers write nothing, whatever their arguments.
var readers = lazy.Words(`ls cat bat grep egrep fgrep rg ag head tail wc echo printf pwd test [ [[ true false : which type
	whereis stat file du df cut tr paste comm diff cmp jq od hexdump strings date ps id uname whoami
	hostname sleep read set unset basename dirname realpath readlink seq nl rev tac column fold less more man help
	history jobs wait kill return exit break continue shift getopts ulimit umask alias printenv locale nproc
	free uptime lsof sha256sum sha1sum md5sum cksum b2sum ssh ping dig nslookup tty clear dirs
	hash nvidia-smi tokei cloc scc expr let`)

// sourced is the rule of commands that run a file in the shell itself.
func sourced(s *scanner, c call) {
	s.readOnly = false
	switch {
	case len(c.args) == 0:
	case c.args[0].s == "/dev/stdin":
		s.script(c.in.text)
	default:
		s.runsFile(c.args[0])
	}
}

func reads(*scanner, call)       {}
func unknown(s *scanner, _ call) { s.readOnly = false }
func under(s *scanner, _ call)   { s.write(literal("."), Write{Kind: Under}) }
func firstOperand(s *scanner, c call) {
	if _, ops := c.parse(""); len(ops) > 0 {
		s.write(ops[0], Write{Kind: File})
	}
}

// operands is the rule of commands that write every file they are given.
func operands(valued string, kind Kind) rule {
	return func(s *scanner, c call) {
		_, ops := c.parse(valued)
		s.writeAll(ops, kind)
	}
}

// when is the rule of commands that write their operands if a flag is given.
func when(valued string, flags ...string) rule {
	return func(s *scanner, c call) {
		if opts, ops := c.parse(valued); opts.has(flags...) {
			s.format(ops)
		}
	}
}

// unless is the rule of commands that write their operands if no flag
// forbids it.
func unless(valued string, flags ...string) rule {
	return func(s *scanner, c call) {
		if opts, ops := c.parse(valued); !opts.has(flags...) {
			s.format(ops)
		}
	}
}

// format notes what a formatter writes: the files it is given, and of folders,
// or of the whole project, nobody can say which.
func (s *scanner) format(ops []value) {
	files := foldersUnder(ops)
	if len(files) == 0 || len(files) < len(ops) {
		s.readOnly = false
	}
	s.writeAll(files, File)
}

// second is the rule of commands whose second operand is where they write.
func second(valued string) rule {
	return func(s *scanner, c call) {
		if _, ops := c.parse(valued); len(ops) > 1 {
			s.write(ops[1], Write{Kind: File})
		}
	}
}

// readsIf is the rule of commands of which only some subcommands are known to
// write nothing, by their first or second word.
func readsIf(known string) rule {
	harmless := lazy.Words(known)
	return func(s *scanner, c call) {
		_, ops := c.parse("")
		for _, v := range ops[:min(2, len(ops))] {
			if harmless.Has(v.s) {
				return
			}
		}
		s.readOnly = false
	}
}

// trapped scans what a shell runs when it ends.
func trapped(s *scanner, c call) {
	if len(c.args) < 2 || c.args[0].s == "-" || c.args[0].ok && c.args[0].s == "" {
		return // what was set before is put back
	}
	s.readOnly = false
	if c.args[0].ok {
		s.sub(func() { s.script(c.args[0].s) })
	}
}

// treeList lists a folder, into a file if told so.
func treeList(s *scanner, c call) {
	if opts, _ := c.parse("-o -L -P -I"); opts.has("-o") {
		s.write(opts["-o"], Write{Kind: File})
	}
}

// foldersUnder drops operands that are folders by their looks: a formatter
// touches few of the files in them, and nobody can say which.
func foldersUnder(ops []value) []value {
	var out []value
	for _, v := range ops {
		if v.s != "." && v.s != ".." && !strings.HasSuffix(v.s, "/") && !strings.HasSuffix(v.s, "/...") {
			out = append(out, v)
		}
	}
	return out
}

// afterFirst is when for commands whose first operand is a program.
func afterFirst(valued string, flags ...string) rule {
	return func(s *scanner, c call) {
		if opts, ops := c.parse(valued); opts.has(flags...) && len(ops) > 1 {
			s.writeAll(ops[1:], File)
		}
	}
}

// subcommand picks the rule by the first operand.
func subcommand(by map[string]rule) rule {
	return func(s *scanner, c call) {
		if len(c.args) == 0 {
			return
		}
		if r, ok := by[c.args[0].s]; ok {
			r(s, call{c.args[0].s, c.args[1:], c.in})
			return
		}
		s.readOnly = false
	}
}

// writes is the rule of commands that write fixed files.
func writes(names ...string) rule {
	return func(s *scanner, _ call) {
		for _, n := range names {
			s.write(literal(n), Write{Kind: File})
		}
	}
}

func goMod(s *scanner, c call) {
	if hasAny(c.args, "tidy", "edit", "init") {
		writes("go.mod", "go.sum")(s, c)
	}
}

func npmInstall(s *scanner, c call) {
	opts, ops := c.parse("")
	if opts.has("-g") {
		s.readOnly = false
		return
	}
	if len(ops) > 0 {
		writes("package.json")(s, c)
	}
	writes("package-lock.json")(s, c)
}

func cd(s *scanner, c call) {
	_, ops := c.parse("")
	switch {
	case len(ops) == 0:
		s.chdir(s.vars["HOME"])
	case ops[0].s == "-":
		s.lost = true
	default:
		s.chdir(ops[0])
	}
}

func setVariables(s *scanner, c call) {
	for _, a := range c.args {
		if name, v, ok := strings.Cut(a.s, "="); ok {
			s.sets(name)
			s.setsProgram(name, value{v, a.glob, a.ok})
			s.vars[name] = value{v, a.glob, a.ok}
		}
	}
}

func awk(s *scanner, c call) {
	for i, a := range c.args {
		if a.s == "inplace" && i > 0 && (c.args[i-1].s == "-i" || c.args[i-1].s == "--include") {
			_, ops := call{args: c.args}.parse("-i -F -v -f --include")
			if len(ops) > 1 {
				s.writeAll(ops[1:], File)
			}
			return
		}
	}
	opts, ops := c.parse("-F -v -f")
	if opts.has("-f") {
		s.readOnly = false
		return
	}
	if len(ops) > 0 {
		s.writeAll(matches(awkRedirect(), ops[0].s), File)
		for _, command := range matches(awkPatterns.get()[1], ops[0].s) {
			s.aside(strings.ReplaceAll(command.s, `\"`, `"`))
		}
	}
}

func sortOut(s *scanner, c call) {
	opts, _ := c.parse("-o -k -t -S -T --output --key")
	if v, ok := opts.get("-o", "--output"); ok {
		s.write(v, Write{Kind: File})
	}
}

func compress(ext string) rule {
	return func(s *scanner, c call) {
		opts, ops := c.parse("-o")
		if opts.has("-d", "--decompress") {
			decompress(ext)(s, c)
			return
		}
		for _, v := range ops {
			if opts.has("-c", "--stdout", "-l", "-t") {
				continue
			}
			if !opts.has("-k", "--keep") && ext != ".zst" {
				s.write(v, Write{Kind: File})
			}
			s.write(value{v.s + ext, v.glob, v.ok}, Write{Kind: File})
		}
	}
}

func decompress(ext string) rule {
	return func(s *scanner, c call) {
		opts, ops := c.parse("-o")
		for _, v := range ops {
			if opts.has("-c", "--stdout", "-l", "-t") {
				continue
			}
			s.write(value{strings.TrimSuffix(v.s, ext), v.glob, v.ok}, Write{Kind: File})
			if !opts.has("-k", "--keep") && ext != ".zst" {
				s.write(v, Write{Kind: File})
			}
		}
	}
}

func hasAny(args []value, words ...string) bool {
	for _, a := range args {
		for _, w := range words {
			if a.s == w {
				return true
			}
		}
	}
	return false
}

func joined(args []value) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.s
	}
	return strings.Join(parts, " ")
}
