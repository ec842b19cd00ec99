package shellscan

import "testing"

// What is not surely read-only gets a snapshot: "I do not know" is never
// "nothing to see". None of these was in the corpus.
func TestWhatMayWriteIsNotReadOnly(t *testing.T) {
	for _, command := range []string{
		"gofmt -w .", "gofmt -l -w ./...", "prettier --write .", "npx prettier --write src/", "black .", "black", "ruff format",
		"ruff format .", "ruff check --fix .", "ruff check --fix", "eslint . --fix", "eslint --fix src/", "isort .", "rustfmt src/",
		"stylua .", "shfmt -w .", "clang-format -i src/", "biome format --write .", "biome check --apply .", "goimports -w ./...",
		"autopep8 -i .", "yapf -i .", "gh pr checkout 12", "gh repo clone a/b", "gh run download 1", "gh release download v1",
		"fd -e go --exec-batch gofmt -w", "fd . -X rm", "uniq a b", "xxd -r a b", "xxd a b", "docker run -v $PWD:/w alpine touch /w/a",
		"docker compose run app make gen", "docker cp c:/a .", "podman run -v .:/w x", "trap 'rm a' EXIT", "trap \"touch b\" INT TERM",
		"tree -o out.txt", "kubectl cp pod:/a a", "fc", "make generate", "cargo fmt", "cargo fix", "npm run build", "pnpm run format",
		"yarn format", "bundle exec rubocop -a", "rubocop -A", "php-cs-fixer fix", "mix format", "dotnet format", "terraform fmt",
		"buf generate", "protoc --go_out=. a.proto", "sqlc generate", "./gradlew spotlessApply", "mvn formatter:format", "just fmt",
		"pre-commit run --all-files", "python3 scripts/gen.py", "node scripts/gen.js", "ruby gen.rb", "perl -pi -e 's/a/b/' x.txt",
		"python3 -c \"for n in ['a','b']: open(n,'w').write('x')\"", "python3 -c \"import os; open(os.path.join('d','f'),'w')\"",
		"ls | while read f; do echo > $f; done", "for f in $(ls); do sed -i s/a/b/ $f; done", "git ls-files | xargs sed -i s/a/b/",
		"files=(a b); for f in \"${files[@]}\"; do echo x > \"$f\"; done", "tar xf x.tar", "ln -s /etc/x l && echo a > l",
	} {
		if r := Scan(command, vars); r.ReadOnly {
			t.Errorf("%s is taken for read-only", command)
		}
	}
}

// Looking around stays free of charge.
func TestWhatOnlyReadsIsReadOnly(t *testing.T) {
	for _, command := range []string{
		"gofmt -l .", "prettier --check .", "black --check .", "ruff check .", "eslint .", "gh pr view 12", "gh pr list", "gh api user",
		"docker ps", "docker logs x", "kubectl get pods", "uniq a", "sort a | uniq -c", "xxd a", "tree -L 2", "trap - EXIT", "fd -e go",
		"git status && git diff", "rg foo | head",
	} {
		if r := Scan(command, vars); !r.ReadOnly {
			t.Errorf("%s may write: %+v", command, r)
		}
	}
}
