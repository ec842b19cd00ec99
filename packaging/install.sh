#!/bin/sh
# Installs svc @VERSION@: curl -fsSL https://github.com/svc-hq/svc/releases/latest/download/install.sh | sh
# SVC_BIN says where to (default ~/.local/bin), SVC_FROM where from: an address
# or a folder. The checksums must be signed with the key below, and the program
# must have the checksum; openssl 1.1.1 or newer checks it.
set -eu
from=${SVC_FROM:-https://github.com/svc-hq/svc/releases/download/v@VERSION@}
bin=${SVC_BIN:-$HOME/.local/bin}
fail() {
	echo "install.sh: $1" >&2
	exit 1
}
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
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
name=svc-$os-$arch
for f in SHA256SUMS SHA256SUMS.sig "$name"; do
	case $from in
	http://* | https://*) curl -fsSL --proto '=https,http' -o "$tmp/$f" "$from/$f" || fail "$from/$f cannot be loaded" ;;
	*) cp "$from/$f" "$tmp/$f" || fail "$from/$f is not there" ;;
	esac
done
cat >"$tmp/key.pem" <<'KEY'
@PUBLIC_KEY@
KEY
"$openssl" pkeyutl -verify -pubin -inkey "$tmp/key.pem" -rawin -in "$tmp/SHA256SUMS" -sigfile "$tmp/SHA256SUMS.sig" >/dev/null 2>&1 ||
	fail "the signature of the checksums is wrong: nothing was installed"
want=$(awk -v n="$name" '$2 == n { print $1 }' "$tmp/SHA256SUMS")
got=$("$openssl" dgst -sha256 "$tmp/$name" | sed 's/.* //')
[ -n "$want" ] && [ "$want" = "$got" ] || fail "$name is not what was released: nothing was installed"
mkdir -p "$bin"
chmod 755 "$tmp/$name"
mv "$tmp/$name" "$bin/.svc-new"
mv "$bin/.svc-new" "$bin/svc"
echo "Installed $("$bin/svc" --version) as $bin/svc."
case :$PATH: in *":$bin:"*) ;; *) echo "Add $bin to your PATH: agent hosts start svc by its name." ;; esac
echo "Next: svc up"
