#!/usr/bin/env python3
"""Writes calls4.tsv as calls3.py writes calls3.tsv. usage: calls4.py FOLDER"""
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
    path = re.sub(r"#\{[^}]*\}|\$?\{[^}]*\}|%d|%s", "{}", path.split("?")[0])
    path = re.sub(r"\.json$", "", path)
    out.append((provider, user, file, line, method.upper(), "/" + path.strip("/")))


D = "discourse/discourse"
for f, lines in files("pydiscourse/pydiscourse", "src/pydiscourse/client.py"):
    verb = None
    for i, l in enumerate(lines):
        v = re.search(r"self\._(get|post|put|delete|patch)\(", l)
        verb = v[1] if v else verb
        m = re.search(r'f?"(/[^"]*)"', l)
        if not m or l.strip().startswith("#") or '"""' in l:
            continue
        near = "".join(lines[max(0, i - 2):i + 1])
        v = re.findall(r"self\._(get|post|put|delete|patch)\(", near)
        if not v:  # given to a name
            v = re.findall(r"self\._(get|post|put|delete|patch)\(", "".join(lines[i:i + 12]))[:1]
        if v:
            add(D, "pydiscourse/pydiscourse", f, i + 1, v[-1], m[1])
for f, lines in files("discourse/discourse_api", "lib/discourse_api/api/*.rb"):
    for i, l in enumerate(lines):
        m = re.search(r'\b(get|post|put|delete|patch|deprecated_request|path_with_format)\(?\s*"([^"]*)"', l)
        if m:
            add(D, "discourse/discourse_api", f, i + 1, m[1], m[2])

S = "syncthing/syncthing"
for f, lines in files("blakev/python-syncthing", "syncthing/__init__.py"):
    prefix = ""
    for i, l in enumerate(lines):
        m = re.match(r"    prefix = '([^']*)'", l)
        prefix = m[1] if m else prefix
        m = re.search(r"self\.(get|post)\('([^']*)'", l)
        if not m and re.search(r"self\.(get|post)\($", l):
            n = re.search(r"'([^']*)'", lines[i + 1])
            m = re.match(r"(get|post) (.*)", re.search(r"self\.(get|post)", l)[1] + " " + n[1])
        if m:
            add(S, "blakev/python-syncthing", f, i + 1, m[1], prefix + m[2])
for f, lines in files("syncthing/syncthing-android", "app/src/main/**/*.java"):
    for i, l in enumerate(lines):
        m = re.search(r'String URI_\w+\s*= "(/rest/[^"]*)"', l)
        if m:
            add(S, "syncthing/syncthing-android", f, i + 1, "POST" if "Post" in f else "GET", m[1])

O = "OctoPrint/OctoPrint"
for f, lines in files("dougbrion/OctoRest", "octorest/*.py"):
    for i, l in enumerate(lines):
        m = re.search(r"self\._(get|post|put|delete|patch)\('([^']*)'", l)
        if m:
            add(O, "dougbrion/OctoRest", f, i + 1, m[1], m[2])
        m = re.search(r"urlparse\.urljoin\(self\.(?:base_)?url, '([^']*)'\)", l)
        if m and (v := re.search(r"session\.(get|post)", "".join(lines[i:i + 14]))):
            add(O, "dougbrion/OctoRest", f, i + 1, v[1], m[1])
        m = re.search(r"url = '(/api/[^']*)'", l)
        if m:
            add(O, "dougbrion/OctoRest", f, i + 1, "GET", m[1])

print("provider\tuser\tfile\tline\tmethod\tpath")
for row in out:
    print("\t".join(map(str, row)))
