package shellscan

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What a readable command makes of a file is what the real shell makes of it.
func TestEditsAreWhatTheShellDoes(t *testing.T) {
	const text = "one\ntwo (2) a.b\nthree\nfour\nfive five\nsix"
	for _, command := range []string{
		`sed -i 's/four/vier/' a.txt`, `sed -i 's/five/5/g' a.txt`, `sed -i s/five/5/ a.txt`, `sed -i 's|o|/|g' a.txt`,
		`sed -i -e 's/one/1/' -e 's/two/2/' a.txt`, `sed -i 's/one/1/;s/two/2/' a.txt`, `sed -i '4d' a.txt`, `sed -i '2,3d' a.txt`,
		`sed -i '$d' a.txt`, `sed -i '/three/d' a.txt`, `sed -i '/two/,/four/d' a.txt`, `sed -i '2,$s/e/E/' a.txt`,
		`sed -i 's/\(t\)wo/\1WO/' a.txt`, `sed -i -E 's/(f[a-z]+) (f.*)/\2-\1/' a.txt`, `sed -i 's/(2)/[&]/' a.txt`,
		`sed -i 's/a\.b/a$b/' a.txt`, `sed -i 's/t[wh]/T/' a.txt`, `sed -i 's/^f.*$/F/' a.txt`, `sed -i '3a new' a.txt`,
		`sed -i '1i new' a.txt`, `sed -i '2c new' a.txt`, `sed -i 's/FOUR/x/I' a.txt`, `sed -i 's/\<five\>/5/' a.txt`, `sed -i 's/e*//' a.txt`,
		`sed -i.bak 's/one/1/' a.txt`, `sed --in-place --expression='s/one/1/' a.txt`, `sed -ie s/one/1/ a.txt`,
		`rm a.txt`, `rm -f a.txt`, `mv a.txt b.txt`, `mv b.txt a.txt`, `cp b.txt a.txt`, `cat > a.txt <<'EOF'` + "\nx\n$y\nEOF",
		`cat >> a.txt <<EOF` + "\nx\nEOF", `cat <<EOF > a.txt` + "\nx\nEOF", `echo x > a.txt`, `echo -n x > a.txt`, `echo "a  b" c >> a.txt`,
		`printf 'a\nb\n' > a.txt`, `printf '%s\n' a b > a.txt`, `: > a.txt`, `tee a.txt <<EOF` + "\nx\nEOF", `tee -a a.txt <<< x`,
		`sed -i 's/one/1/' a.txt && sed -i 's/1/eins/' a.txt`, `echo x > a.txt; echo y >> a.txt`, `rm a.txt; echo z > a.txt`,
		`python3 -c "p='a.txt'; s=open(p).read(); open(p,'w').write(s.replace('four','vier'))"`,
		`python3 - <<'PY'` + "\nfrom pathlib import Path\np = Path('a.txt')\n" +
			"p.write_text(p.read_text().replace(\"two\", \"2\").replace('x', 'y'))\nPY",
		`python3 -c "open('a.txt','w').write('new\nlines\n')"`,
		`python3 -c 'open("a.txt","w").write("say \"json.x\"\n")'`, `python3 -c "open('a.txt','a').write('new\n')"`,
		"python3 - <<'EOF'\nfrom pathlib import Path\ntext = '''def f():\n    return 'a'.join(b)\n'''\nPath('a.txt').write_text(text)\nEOF",
		"python3 <<'EOF'\nwith open('a.txt', 'w') as f:\n    f.write(\"\"\"a\nb % c\n\"\"\")\nEOF",
		"python3 - <<'EOF'\nold = 'one'\np = 'a.txt'\ns = open(p).read()\nopen(p, 'w').write(s.replace(old, 'two'))\nEOF",
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{"a.txt": text, "b.txt": "other\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var edits []Edit
		for _, e := range Scan(command, vars).Edits {
			if e.Path == "a.txt" {
				edits = append(edits, e)
			}
		}
		got, deleted, ok := Apply(text, edits, func(p string) (string, bool) {
			data, err := os.ReadFile(filepath.Join(dir, p))
			return string(data), err == nil
		})
		run := exec.Command("bash", "-c", command)
		run.Dir = dir
		run.Stdout = nil
		if out, err := run.Output(); err != nil {
			t.Fatalf("%s: %v %s", command, err, out)
		}
		want, err := os.ReadFile(filepath.Join(dir, "a.txt"))
		if !ok || deleted != (err != nil) || got != string(want) {
			t.Errorf("%s (%v, %v)\n got %q\nwant %q", command, ok, deleted, got, want)
		}
	}
}

// What is not sure is no edit: wrong lines are worse than none.
func TestWhatCannotBeReadIsNoEdit(t *testing.T) {
	for _, command := range []string{
		`sed -i "s/a/$x/" a.txt`, `sed -i -f script a.txt`, `sed -n -i 's/a/b/p' a.txt`, `sed -i 's/a/b/2' a.txt`, `sed -i 'y/abc/xyz/' a.txt`,
		`sed -i '/a/{s/b/c/;d}' a.txt`, `sed -i 's/\(a\)\1/b/' a.txt`, `sed -i 's/a/\U&/' a.txt`, `sed -i '0~2d' a.txt`, `date > a.txt`,
		`cat b.txt > a.txt`, `echo $x > a.txt`, `echo -e 'a\n' > a.txt`, `cat > a.txt <<EOF` + "\n$x\nEOF", `printf '%d' 1 > a.txt`,
		`python3 -c "import re; s=open('a.txt').read(); open('a.txt','w').write(re.sub('a','b',s))"`, `perl -pi -e 's/a/b/' a.txt`, `rm *.txt`,
		`sed -i 's/[[:space:]]*$//' a.txt`, `sed -i 's/a/b/' a.txt; date > a.txt`,
		`python3 -c "open('a.txt','w').write('%s' % x)"`, `python3 -c "open('a.txt','w').write(f'{x}')"`,
		`python3 -c "open('a.txt','w').write(a+'b')"`,
		`python3 -c "x='a'; x+='b'; open('a.txt','w').write(x)"`, `python3 -c "open('a.txt','w').write('\\x41')"`,
	} {
		if edits := Scan(command, vars).Edits; len(edits) > 0 {
			if out, _, ok := Apply("aa\nb\n", edits, func(string) (string, bool) { return "", false }); ok {
				t.Errorf("%s is read as %+v: %q", command, edits, out)
			}
		}
	}
}

// What replaces a file without having read it is known to be blind.
func TestBlindEdits(t *testing.T) {
	for command, want := range map[string]bool{
		"date > a.txt": true, "python gen.py > a.txt": true, "git show HEAD:a.txt > a.txt": true, "{ echo a; date; } > a.txt": true,
		"python3 -c \"open('a.txt','w').write(make())\"": true,
		"node -e \"fs.writeFileSync('a.txt', make())\"":  true,
		"date >> a.txt": false,
		"python3 -c \"s=open('a.txt').read(); open('a.txt','w').write(re.sub('a','b',s))\"": false,
		"node -e \"fs.writeFileSync('a.txt', fs.readFileSync('a.txt').trim())\"":            false,
		"sort -o a.txt a.txt": false, "gofmt -w a.txt": false,
	} {
		got := false
		for _, e := range Scan(command, vars).Edits {
			got = got || e.Path == "a.txt" && e.Blind
		}
		if got != want {
			t.Errorf("%s: blind %v, want %v", command, got, want)
		}
	}
}
