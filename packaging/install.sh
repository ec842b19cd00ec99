#!/bin/sh
# Installs svc @VERSION@: curl -fsSL https://github.com/svc-hq/svc/releases/latest/download/install.sh | sh
# SVC_BIN says where to (default ~/.local/bin), SVC_FROM where from: an address
# or a folder. The checksums must be signed with the key below, and the program
# must have the checksum; openssl 1.1.1 or newer checks it.
set -eu
fail() {
	echo "install.sh: $1" >&2
	exit 1
}

load() {
	case $from in
	http://* | https://*)
		if command -v curl >/dev/null; then
			curl -fsSL --proto '=https,http' --retry 2 -o "$tmp/$1" "$from/$1"
		elif command -v wget >/dev/null; then
			wget -q -O "$tmp/$1" "$from/$1"
		else
			fail "curl or wget is needed to load $from/$1; or load the release's files into a folder and set SVC_FROM to it"
		fi || fail "$from/$1 cannot be loaded; behind a proxy set https_proxy, without a network set SVC_FROM to a folder with the release's files"
		;;
	*) cp "$from/$1" "$tmp/$1" 2>/dev/null || fail "$from/$1 is not there, or $tmp has no room for it" ;;
	esac
}

# All of it is read before any of it is done: half a script does nothing.
main() {
	from=${SVC_FROM:-https://github.com/svc-hq/svc/releases/download/v@VERSION@}
	bin=${SVC_BIN:-${HOME:+$HOME/.local/bin}}
	[ -n "$bin" ] || fail "HOME is not set: say with SVC_BIN in which folder svc is to be"
	os=$(uname -s | tr '[:upper:]' '[:lower:]')
	case $os in linux | darwin) ;; *) fail "there is no svc for $os here; on Windows take svc-windows-amd64.exe of the release" ;; esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no svc for $(uname -m)" ;;
	esac
	openssl=
	for o in openssl /opt/homebrew/opt/openssl/bin/openssl /usr/local/opt/openssl/bin/openssl; do
		if command -v "$o" >/dev/null && "$o" version | grep -qE '^OpenSSL (1\.1\.1|[3-9])'; then
			openssl=$o
			break
		fi
	done
	[ -n "$openssl" ] || fail "openssl 1.1.1 or newer is needed to check the signature; or install by Homebrew or npm"
	mkdir -p "$bin" 2>/dev/null && [ -w "$bin" ] || fail "$bin cannot be written to; set SVC_BIN to a folder on your PATH that can"
	tmp=$(mktemp -d) || fail "there is no folder for temporary files; set TMPDIR to one with 50 MB of room"
	trap 'rm -rf "$tmp" "$bin/.svc-new"' EXIT
	name=svc-$os-$arch
	for f in SHA256SUMS SHA256SUMS.sig "$name"; do load "$f"; done
	cat >"$tmp/key.pem" <<'KEY'
@PUBLIC_KEY@
KEY
	"$openssl" pkeyutl -verify -pubin -inkey "$tmp/key.pem" -rawin -in "$tmp/SHA256SUMS" -sigfile "$tmp/SHA256SUMS.sig" >/dev/null 2>&1 ||
		fail "the signature of the checksums is wrong: nothing was installed"
	want=$(awk -v n="$name" '$2 == n { print $1 }' "$tmp/SHA256SUMS")
	got=$("$openssl" dgst -sha256 "$tmp/$name" | sed 's/.* //')
	[ -n "$want" ] && [ "$want" = "$got" ] || fail "$name is not what was released: nothing was installed"
	cp "$tmp/$name" "$bin/.svc-new" 2>/dev/null && chmod 755 "$bin/.svc-new" || fail "$bin has no room for svc: nothing was installed"
	version=$("$bin/.svc-new" --version) || fail "svc does not start from $bin (is it mounted noexec?); nothing was installed, set SVC_BIN to another folder"
	mv -f "$bin/.svc-new" "$bin/svc" || fail "$bin/svc cannot be replaced: nothing was installed"
	echo "Installed $version as $bin/svc."
	found=$(command -v svc || true)
	case $found in
	"$bin/svc") echo "Next: svc up" ;;
	"")
		echo "$bin is not on your PATH. To run svc by its name, add this line to ~/.profile or your shell's own file:"
		echo "  export PATH=\"$bin:\$PATH\""
		echo "Next: $bin/svc up"
		;;
	*)
		echo "But svc on your PATH is $found: remove that one, or put $bin first in the PATH."
		echo "Next: $bin/svc up"
		;;
	esac
}
main
