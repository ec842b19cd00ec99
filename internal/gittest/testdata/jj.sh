#!/bin/sh
# Records what a real jj writes, for tests on machines without one:
#   JJ=/path/to/jj sh jj.sh DIR && (cd DIR && zip -qrX ../jj.zip jj)
# jj.zip was made with jj 0.35.0. Operations stay in a repository's records, so the
# state after each step is the few files that change: they are kept in steps/.
set -eu
dir=$1 jj=${JJ:-jj}
export JJ_USER=Ann JJ_EMAIL=ann@example.com GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.com
export GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.com
mkdir -p "$dir/jj/steps" && cd "$dir"
git init --quiet -b main up
printf 'one\ntwo\nthree\nfour\n' >up/a.txt
printf '*.log\n' >up/.gitignore
git -C up add . && git -C up commit -q -m first
cd jj
keep() { # step
	for w in plain added both; do
		mkdir -p "steps/$1/$w"
		cp "$w/.jj/working_copy/checkout" "steps/$1/$w/"
		(cd $w && "$jj" log --ignore-working-copy --no-graph -r '@ | @-' -T 'change_id.short(8) ++ " " ++ commit_id ++ " " ++ bookmarks ++ "\n"') \
			>"steps/$1/$w/log"
	done
	cp both/.git/HEAD both/.git/index "steps/$1/both/"
}
each() { for w in plain added both; do (cd $w && "$@"); done; }
change() { sed -i "s/two/two of $(basename "$PWD")/" a.txt; }
"$jj" git clone --quiet --no-colocate ../up plain
"$jj" git clone --quiet --colocate ../up both
(cd plain && "$jj" workspace add --quiet ../added)
(cd plain && "$jj" git remote set-url origin https://github.com/acme/api.git)
(cd both && "$jj" git remote set-url origin https://github.com/acme/api.git)
each "$jj" --quiet workspace update-stale || :
keep fresh
each change
each "$jj" commit --quiet -m 'Say whose two it is'
keep committed
for w in plain added both; do (cd $w && "$jj" --quiet bookmark create "feat-$w" -r @-); done
each "$jj" --quiet workspace update-stale || :
keep named
each "$jj" --quiet new main@origin
keep elsewhere
rm -rf */.git/hooks */.jj/repo/store/git/hooks */.jj/repo/index */.git/logs */.jj/repo/store/extra
printf ../../plain/.jj/repo >added/.jj/repo # as later versions write it
