#!/usr/bin/env python3
"""Writes calls.tsv: the calls of clients of public APIs, read by expressions made for each client after looking at its code.

It knows nothing of svc. usage: calls.py FOLDER, which has a checkout of each repository as owner+name.
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
out = []


def files(repo, glob):
    base = root / repo.replace("/", "+")
    for f in sorted(base.glob(glob)):
        yield f.relative_to(base).as_posix(), f.read_text().split("\n")


def add(provider, user, file, line, method, path):
    path = re.sub(r"\$?\{[^}]*\}|%d|%s", "{}", path.split("?")[0])
    path = re.sub(r"(?<=[a-z])\{\}$", "", path)  # a query that is glued on
    out.append((provider, user, file, line, method.upper(), "/" + path.strip("/")))


def after(lines, i, pattern, n, default):
    """The first match in the lines from i on, before the next statement begins."""
    for k in range(i, min(i + n, len(lines))):
        m = re.search(pattern, lines[k])
        if m:
            return m.group(1)
        if k > i and re.search(r"await |fetchOrThrow\(|^\s*\}?\);?\s*$", lines[k]):
            return default
    return default


L = "sissbruecker/linkding"
for f, lines in files("bachya/aiolinkding", "aiolinkding/*.py"):
    for i, l in enumerate(lines):
        m = re.search(r'"(get|post|patch|put|delete)", f?"(/[^"]*)"', l)
        if m:
            add(L, "bachya/aiolinkding", f, i + 1, m[1], m[2])
        if 'endpoint = "/api/bookmarks/"' in l:
            add(L, "bachya/aiolinkding", f, i + 1, "GET", "/api/bookmarks/")
        if 'endpoint += "archived/"' in l:
            add(L, "bachya/aiolinkding", f, i + 1, "GET", "/api/bookmarks/archived/")
for f, lines in files("piero-vic/go-linkding", "*.go"):
    for i, l in enumerate(lines):
        m = re.search(r'makeRequest\(http\.Method(\w+), (?:fmt\.Sprintf\()?"([^"]*)"', l)
        if m:
            add(L, "piero-vic/go-linkding", f, i + 1, m[1], m[2])
        m = re.search(r'build\w+QueryString\("([^"]*)"', l)
        if m:
            add(L, "piero-vic/go-linkding", f, i + 1, "GET", m[1])
for f, lines in files("sissbruecker/linkding-extension", "src/*.js"):
    for i, l in enumerate(lines):
        m = re.search(r"`\$\{configuration\.baseUrl\}(/api/[^`]*)`", l)
        if m:
            add(L, "sissbruecker/linkding-extension", f, i + 1, after(lines, i, r'method: "(\w+)"', 4, "GET"), m[1])

A = "AdguardTeam/AdGuardHome"
for f, lines in files("frenck/python-adguardhome", "src/adguardhome/*.py"):
    for i, l in enumerate(lines):
        m = re.search(r'\.request\((?:\s*"([\w/]+)")?(.*)', l)
        if not m or "session.request" in l:
            continue
        at, path, rest = i, m[1], m[2]
        if not path:
            n = re.match(r'\s*"([\w/]+)",?', lines[i + 1])
            if not n:
                continue
            at, path, rest = i + 1, n[1], ""
        how = re.search(r'method="(\w+)"', rest)
        method = how[1] if how else "GET"
        if not rest.strip().endswith(")"):
            for k in range(at + 1, at + 8):
                how = re.search(r'method="(\w+)"', lines[k])
                if how:
                    method = how[1]
                    break
                if re.match(r"\s*\)", lines[k]):
                    break
        add(A, "frenck/python-adguardhome", f, at + 1, method, "/control/" + path)
for f, lines in files("gmichels/adguard-client-go", "*.go"):
    if f.endswith("_test.go"):
        continue
    for i, l in enumerate(lines):
        m = re.search(r'NewRequest\("(\w+)", fmt\.Sprintf\("%s(/[^"]*)"', l)
        if m:
            add(A, "gmichels/adguard-client-go", f, i + 1, m[1], re.sub("%s$", "", m[2]))

M = "miniflux/v2"
for f, lines in files("miniflux/python-client", "miniflux.py"):
    for i, l in enumerate(lines):
        m = re.search(r'_get_endpoint\(f?"([^"]*)"\)', l)
        if m:
            method = next(re.search(r"_session\.(get|post|put|delete)\(", x)[1] for x in lines[i:]
                          if re.search(r"_session\.(get|post|put|delete)\(", x))
            add(M, "miniflux/python-client", f, i + 1, method, "/v1" + m[1])
for f, lines in files("electh/ReactFlux", "src/**/*.js*"):
    for i, l in enumerate(lines):
        m = re.search(r'apiClient\.(get|put|post|raw)\(["`](/v1[^"`]*)["`]', l)
        if m:
            method = m[1] if m[1] != "raw" else after(lines, i, r'method: "(\w+)"', 4, "GET")
            add(M, "electh/ReactFlux", f, i + 1, method, m[2])
        m = re.search(r'baseUrl: ["`](/v1[^"`]*)["`]', l)
        if m:
            add(M, "electh/ReactFlux", f, i + 1, "GET", m[1])

T = "traccar/traccar"
for f, lines in files("traccar/traccar-web", "src/**/*.js*"):
    for i, l in enumerate(lines):
        for m in re.finditer(r"[\"'`](/api/[^\"'`]*)[\"'`]?", l):
            if m[1].startswith("/api/${") or "WebSocket" in l:
                continue  # one of many, which the code does not say
            call = re.search(r"fetch(OrThrow)?\($|fetch(OrThrow)?\(", "".join(lines[max(0, i - 1):i + 1]))
            method = after(lines, i, r"method: '(\w+)'", 5, "GET") if call else "GET"
            add(T, "traccar/traccar-web", f, i + 1, method, m[1])
for f, lines in files("ludeeus/pytraccar", "pytraccar/client.py"):
    for i, l in enumerate(lines):
        m = re.search(r"_call_api\((.*)", l)
        if not m or "def " in l:
            continue
        at = i
        path = re.search(r'"([\w/]+)"', m[1])
        while not path:
            at += 1
            path = re.search(r'^\s*f?"([\w/]+)[?"]', lines[at])
        method = "GET"
        for k in range(i, i + 8):
            how = re.search(r'method="(\w+)"', lines[k])
            if how:
                method = how[1]
                break
            if re.match(r"\s*\)", lines[k]) or k == i and m[1].endswith(")"):
                break
        add(T, "ludeeus/pytraccar", f, at + 1, method, "/api/" + path[1])

print("provider\tuser\tfile\tline\tmethod\tpath")
for row in out:
    print("\t".join(map(str, row)))
