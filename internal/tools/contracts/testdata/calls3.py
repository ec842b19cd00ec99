#!/usr/bin/env python3
"""Writes calls3.tsv: the calls of clients of public APIs, read by expressions made for each client after looking at its code.

It knows nothing of svc. A place that holds an address for whoever asks, with whatever method, has the method ANY.
usage: calls3.py FOLDER, which has a checkout of each repository as owner/name.
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
out = []


def files(repo, glob):
    base = root / repo
    for f in sorted(base.glob(glob)):
        yield f.relative_to(base).as_posix(), f.read_text().split("\n")


def add(provider, user, file, line, method, path):
    path = re.sub(r"\\\([^)]*\)\)?|\$?\{[^}]*\}|%d|%s", "{}", path.split("?")[0])
    out.append((provider, user, file, line, method.upper(), "/" + path.strip("/")))


A = "advplyr/audiobookshelf"
for f, lines in files("music-assistant/aioaudiobookshelf", "aioaudiobookshelf/**/*.py"):
    for i, l in enumerate(lines):
        m = re.search(r'f?"(/(?:api|s|login|auth|public)/[^"]*)"', l)
        if not m:
            continue
        method = None
        for k in range(i, max(i - 3, -1), -1):  # the call that it stands in
            v = re.search(r"self\._(get|post|patch|delete)\(|session\.(get|post|patch|delete)\(", lines[k])
            if v:
                method = v[1] or v[2]
                break
        for k in range(i + 1, min(i + 14, len(lines))):  # or that its name is handed to
            v = re.search(r"self\._(get|post|patch|delete)\(|session\.(get|post|patch|delete)\(", lines[k])
            if method or re.match(r"    (async )?def ", lines[k]):
                break
            if v:
                method = v[1] or v[2]
        if "pagination" in "".join(lines[i:i + 3]):
            method = "get"
        if method:
            add(A, "music-assistant/aioaudiobookshelf", f, i + 1, method, m[1])

helpers = {"userPath": "/api/users/{}", "myProgressPath": "/api/me/progress/{}/{}", "collectionPath": "/api/collections/{}",
           "authorPath": "/api/authors/{}", "podcastPath": "/api/podcasts/{}", "playlistPath": "/api/playlists/{}", "itemPath": "/api/items/{}"}


def chain(text):
    m = re.match(r"(\w+)\(([^()]*)\)(.*)", text)
    words = lambda args: ["{}" if not a.strip().startswith('"') else a.strip().strip('"') for a in args.split(",") if a.strip()]
    if m[1] == "apiPath":
        path = ["api"] + words(m[2])
    elif m[1] == "rawPath":
        path = words(m[2])
    else:
        path = [helpers[m[1]]] + words(m[2])[1 if m[1] != "myProgressPath" else 2:]
    for v, args in re.findall(r"\.(Seg|Lit)\(((?:[^()]|\([^()]*\))*)\)", m[3]):
        path += words(args)
    return "/".join(path)


G = "wilhelm-murdoch/go-audiobookshelf"
for f, lines in files(G, "*.go"):
    if f.endswith("_test.go") or f == "path.go":
        continue
    for i, l in enumerate(lines):
        if l.strip().startswith("//"):
            continue
        m = re.search(r"((?:api|raw|user|myProgress|collection|author|podcast|playlist|item)Path\([^()]*\).*)", l)
        if not m or l.startswith("func"):
            continue
        v = re.search(r"c\.(Get|Post|Patch|Delete|Put|postMultipart|getRaw|getStream|download)\w*\(", l)
        if not v and "return" in l:
            continue  # the helper itself
        for k in range(i, min(i + 8, len(lines))):
            if not v:
                v = re.search(r"c\.(Get|Post|Patch|Delete|Put|postMultipart|getRaw|getStream|download)\w*\((?:ctx|.*(?:pb|path))", lines[k])
        method = {"postMultipart": "POST", "getRaw": "GET", "getStream": "GET", "download": "GET"}.get(v[1], v[1]) if v else "ANY"
        add(A, G, f, i + 1, method, chain(m[1]))

K = "lcharlick/AudiobookshelfKit"
for f, lines in files(K, "Sources/**/Requests/*.swift"):
    for i, l in enumerate(lines):
        m = re.search(r'public (?:var|let) path(?:: String \{| =) "([^"]*)"', l)
        if m:
            v = re.search(r'httpMethod(?:: String)? (?:=|\{) "(\w+)"', "\n".join(lines))
            add(A, K, f, i + 1, v[1] if v else "GET", m[1])

P = "paperless-ngx/paperless-ngx"
for f, lines in files("tb1337/paperless-api", "pypaperless/const.py"):
    for i, l in enumerate(lines):
        m = re.match(r'    [A-Z_]+ = "(/api/[^"]*)"', l)
        if m:
            add(P, "tb1337/paperless-api", f, i + 1, "ANY", m[1])
for f, lines in files("paulgessinger/swift-paperless", "Networking/Sources/Networking/Api/*.swift"):
    for i, l in enumerate(lines):
        m = re.search(r'path: "(/[^"]*)"', l)
        if m:
            add(P, "paulgessinger/swift-paperless", f, i + 1, "ANY", m[1])

print("provider\tuser\tfile\tline\tmethod\tpath")
for row in out:
    print("\t".join(map(str, row)))
