#!/usr/bin/env python3
"""Writes calls6.tsv as calls5.py writes calls5.tsv. usage: calls6.py FOLDER

Left out, by reading the servers: what they do not have (or no longer, or with
another method), what Spring's actuator answers, and what goes to the server
that sells the Android program's licences."""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
out = []


def files(repo, glob):
    base = root / repo
    for f in sorted(base.glob(glob)):
        yield f.relative_to(base).as_posix(), f.read_text().split("\n")


def add(provider, user, file, line, method, path, lacks=()):
    path = re.sub(r"\\\([^)]*\)|\$\{[^}]*\}|\$\w+|\{[^}]*\}|%d|%s", "{}", path.split("?")[0])
    row = (method.upper(), "/" + path.strip("/"))
    if row not in lacks:
        out.append((provider, user, file, line) + row)


# Pterodactyl.
P = "pterodactyl/panel"
lacks = {("DELETE", "/api/client/account/two-factor"), ("POST", "/api/application/servers/{}/rebuild"),
         ("DELETE", "/api/application/users/external/{}")}
for f, lines in files("iamkubi/pydactyl", "pydactyl/**/*.py"):
    for i, l in enumerate(lines):
        m = re.search(r"'((?:application|client)(?:/[^']*)?)'", l)
        if not m or re.search(r"application/(json|text)", l):
            continue
        block = []
        for j in range(i, min(i + 14, len(lines))):
            if j > i and re.match(r"\s*(return|def|async def)\b", lines[j]) and "_api_request" not in lines[j]:
                break
            block.append(lines[j])
        more = re.match(r"\s*'(/[^']*)'", lines[i + 1])
        mode = re.search(r"mode='(\w+)'", "\n".join(block))
        add(P, "iamkubi/pydactyl", f, i + 1, mode[1] if mode else "GET", "/api/" + m[1] + (more[1] if more else ""), lacks)
for f, lines in files("parkervcp/crocgodyl", "*.go"):
    for i, l in enumerate(lines):
        m = re.search(r'\b([ac])\.newRequest\("(\w+)", (?:fmt\.Sprintf\()?"([^"]*)"(\+\w+)?', l)
        if m:
            base = "/api/application" if m[1] == "a" else "/api/client"
            add(P, "parkervcp/crocgodyl", f, i + 1, m[2], base + m[3] + ("{}" if m[4] else ""), lacks)
        elif 'url := fmt.Sprintf("/servers/%d"' in l:
            add(P, "parkervcp/crocgodyl", f, i + 1, "DELETE", "/api/application/servers/{}")

# Overseerr.
O = "sct/overseerr"
lacks = {("GET", "/api/v1/settings/main/regenerate"), ("POST", "/api/v1/settings/radarr/{}"), ("POST", "/api/v1/settings/sonarr/{}"),
         ("PUT", "/api/v1/issue/{}")}
for f, lines in files("WillFantom/goverseerr", "*.go"):
    for i, l in enumerate(lines):
        m = re.search(r'\b(Get|Post|Put|Delete)\("(/[^"]*)"\)', l)
        if m:
            add(O, "WillFantom/goverseerr", f, i + 1, m[1], "/api/v1" + m[2], lacks)
for f, lines in files("joostlek/python-overseerr", "src/python_overseerr/overseerr.py"):
    text = "\n".join(lines)
    for m in re.finditer(r'_request\(\s*METH_(\w+),\s*f?"([^"]*)"', text):
        add(O, "joostlek/python-overseerr", f, text[:m.start(2)].count("\n") + 1, m[1], "/api/v1/" + m[2], lacks)

# Komga.
K = "gotson/komga"
for f, lines in files("everpcpc/Komga-iOS", "KMReader/**/*.swift"):
    for i, l in enumerate(lines):
        m = re.search(r'(?:path: |baseURL \+ |serverURL \+ )"(/(?:api|sse)/[^"]*)"', l)
        if m:
            v = re.search(r'method: "(\w+)"', "\n".join(lines[i:i + 2]))
            add(K, "everpcpc/Komga-iOS", f, i + 1, v[1] if v else "GET", m[1], {("PATCH", "/api/v1/series/{}/read-progress")})
for f, lines in files("Snd-R/komga-client", "src/commonMain/**/*.kt"):
    for i, l in enumerate(lines):
        m = re.search(r'ktor\.(?:prepareG|g|p|d)(?:et|ost|ut|atch|elete)\("([^"]*)"', l)
        v = re.search(r"ktor\.(prepareGet|\w+)\(", l)
        if m and not m[1].startswith("actuator"):
            add(K, "Snd-R/komga-client", f, i + 1, v[1].replace("prepareGet", "get"), m[1])
        elif m := re.search(r' (?:path|url)\("((?:api|sse)/[^"]*)"\)', l):
            add(K, "Snd-R/komga-client", f, i + 1, "GET", m[1])

# PhotoPrism.
H = "photoprism/photoprism"
for f, lines in files("Radiokot/photoprism-android-client", "app/src/main/**/api/*/service/*.kt"):
    for i, l in enumerate(lines):
        m = re.search(r'@(GET|POST|PUT)\("([^"]*)"\)', l)
        if m:
            add(H, "Radiokot/photoprism-android-client", f, i + 1, m[1], "/api/" + m[2], {("POST", "/api/v1/batch/photos/edit")})
        elif "@HTTP(" in l:
            add(H, "Radiokot/photoprism-android-client", f, i + 3, "DELETE", re.search(r'"(v1[^"]*)"', lines[i + 2])[1].join(["/api/", ""]))
for f, lines in files("krisnova/photoprism-client-go", "**/*.go"):
    for i, l in enumerate(lines):
        m = re.search(r'v1\.(GET|POST|PUT|DELETE)\((?:[^",]*, )?"(/[^"]*)"', l)
        if m and not f.endswith("_test.go"):
            add(H, "krisnova/photoprism-client-go", f, i + 1, m[1], m[2], {("DELETE", "/api/v1/photos/{}/approve")})
        elif '"api/v1/session"' in l and not f.endswith("_test.go"):
            add(H, "krisnova/photoprism-client-go", f, i + 1, "POST", "api/v1/session")

print("provider\tuser\tfile\tline\tmethod\tpath")
for row in out:
    print("\t".join(map(str, row)))
