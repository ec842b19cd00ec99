#!/usr/bin/env python3
"""Writes calls2.tsv: the calls of eight more clients, of four other APIs (and one of a fifth), as calls.py does.

usage: calls2.py FOLDER, which has a checkout of each repository as owner+name.
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
out = []


def files(repo, glob):
    base = root / repo.replace("/", "+")
    for f in sorted(base.glob(glob)):
        rel = f.relative_to(base).as_posix()
        if not re.search(r"_test\.go$|(^|/)(tests?|spec|mocks|examples|integration)/", rel):
            yield rel, f.read_text().split("\n")


def add(provider, user, file, line, method, path):
    path = re.sub(r"\$\{[^}]*\}|#\{[^}]*\}|\{[^}]*\}|\$\w+|%[ds]", "{}", path.split("?")[0])
    path = re.sub(r"\.json$", "", re.sub(r"(?<=[a-z])\{\}$", "", path))
    out.append((provider, user, file, line, method.upper(), "/" + path.strip("/")))


def joined(text):
    """A Go or Java expression of texts and names as one path."""
    parts = re.findall(r'"([^"]*)"|([^"+]+)', text)
    return "".join(t if t or not n.strip() else "{}" for t, n in parts)


def near(lines, i, pattern, n):
    for k in range(i, min(i + n, len(lines))):
        m = re.search(pattern, lines[k])
        if m:
            return m[1]
    return None


M = "meilisearch/meilisearch"
for f, lines in files("meilisearch/meilisearch-go", "*.go"):
    for i, l in enumerate(lines):
        m = re.search(r'endpoint\s*(?::=|:|=)\s*(?:fmt\.Sprintf\()?("/.*?)(?:, \w+\))?,?$', l)
        if m:
            text = re.sub(r'\s*\+ generate\w+\(.*', "", m[1])
            add(M, "meilisearch/meilisearch-go", f, i + 1, near(lines, i, r"method:\s*http\.Method(\w+)", 16), joined(text))
for f, lines in files("meilisearch/meilisearch-ruby", "lib/**/*.rb"):
    for i, l in enumerate(lines):
        m = re.search(r"""http_(get|post|put|patch|delete)[ (](["'])(/.*?)\2""", l)
        if m:
            add(M, "meilisearch/meilisearch-ruby", f, i + 1, m[1], m[3])
        m = re.search(r"http_(get|post|put|patch|delete) indexes_path\(id: ", l)
        if m:
            add(M, "meilisearch/meilisearch-ruby", f, i + 1, m[1], "/indexes/{}")

W = "wallabag/wallabag"
for f, lines in files("Strubbl/wallabago", "*.go"):
    for i, l in enumerate(lines):
        m = re.search(r'LibConfig\.WallabagURL ?\+ ?(".*?)(?:, "GET", nil\))?$', l)
        if m:
            how = "POST" if "oauth" in m[1] else near(lines, i, r'APICall\(\w+, "(\w+)"', 16)
            if re.search(r'"GET"|GET', l) or how is None:
                how = "GET"
            add(W, "Strubbl/wallabago", f, i + 1, how, joined(m[1]))
verbs = dict(ADD_ENTRY="POST", DELETE_ENTRY="DELETE", GET_ENTRY="GET", UPDATE_ENTRY="PATCH", ENTRY_EXISTS="GET", LIST_ENTRIES="GET",
             ADD_TAGS_TO_ENTRY="POST", GET_TAGS="GET", GET_TAGS_FOR_ENTRY="GET", DELETE_TAG_FROM_ENTRY="DELETE", DELETE_TAG_BY_ID="DELETE",
             DELETE_TAG_BY_LABEL="DELETE", DELETE_ANNOTATION="DELETE", TOKEN="POST", VERSION="GET")
for f, lines in files("artur-shaik/wallabag-client", "src/wallabag/api/api.py"):
    for i, l in enumerate(lines):
        m = re.match(r'    (\w+) = "(/(?:api|oauth)/[^"]*)"', l)
        if m:
            add(W, "artur-shaik/wallabag-client", f, i + 1, verbs[m[1]], m[2])

G = "grocy/grocy"
for f, lines in files("SebRut/pygrocy", "pygrocy/grocy_api_client.py"):
    for i, l in enumerate(lines):
        m = re.search(r'_do_(get|post|put|delete)_request\((?:\s*f?"([^"]*)")?', l)
        if m and "def " not in l:
            path, at = m[2], i
            if not path:
                n = re.match(r'\s*f?"([^"]*)"', lines[i + 1])
                if n:
                    path, at = n[1], i + 1
                else:
                    for k in range(i, i - 12, -1):
                        n = re.search(r'url = f?"([^"]*)"( \+)?', lines[k])
                        if n:
                            path, at = n[1] + ("{}" if n[2] else ""), k
                            break
            add(G, "SebRut/pygrocy", f, at + 1, m[1], "/api/" + path)
base = root / "patzly+grocy-android/app/src/main/java"
how = {}
for f in sorted(base.glob("**/*.java")):
    for m in re.finditer(r"\.(get|post|put|delete)\w*\(\s*(?:\w+, ?)?grocyApi\.(\w+)\(", f.read_text()):
        how.setdefault(m[2], set()).add(m[1])
for f, lines in files("patzly/grocy-android", "app/src/main/java/**/GrocyApi.java"):
    name = ""
    for i, l in enumerate(lines):
        m = re.search(r"public String (\w+)\(", l)
        if m:
            name = m[1]
        text = "".join(lines[i:i + 3]) if re.search(r"getUrl\($", l) else l
        m = re.search(r'getUrl\(\s*("/[^;,]*?)(?:, |,\s|\);)', text)
        if m and "private" not in l:
            path = joined(re.sub(r'\.replace\([^)]*\)', "", m[1]))
            for verb in sorted(how.get(name, {"get"})):
                add(G, "patzly/grocy-android", f, i + 1 + (not re.search(r'"/', l)), verb, "/api" + path)

V = "go-vikunja/vikunja"
for f, lines in files("go-vikunja/app", "lib/**/*.dart"):
    for i, l in enumerate(lines):
        m = re.search(r"client\.(get|post|put|delete)(?:Unauthenticated)?\((?:url: '([^']*)')?", l)
        if m:
            path, at = m[2], i
            if not path:
                for k in range(i + 1, i + 4):
                    n = re.search(r"url:\s*(?:'([^']*)')?", lines[k])
                    if n:
                        path, at = (n[1], k) if n[1] else (re.search(r"'([^']*)'", lines[k + 1])[1], k + 1)
                        break
            add(V, "go-vikunja/app", f, at + 1, m[1], "/api/v1" + path)
        m = re.search(r"url \+= '(/[^']*)'", l)
        if m:
            add(V, "go-vikunja/app", f, i + 1, "GET", "/api/v1" + m[1])
for f, lines in files("cernst72/vja", "vja/adapter/*.py"):
    for i, l in enumerate(lines):
        m = re.search(r'f"\{self\._api_url\}(/[^"]*)"', l)
        if m:
            verb = "post" if "authenticate" in f else next((re.search(r"_(get|post|put|delete)_(?:one|list|json)\(", x)[1] for x in lines[max(0, i - 1):i + 1] + lines[i + 1:i + 5]
                         if re.search(r"_(get|post|put|delete)_(?:one|list|json)\(", x)), "get")
            add(V, "cernst72/vja", f, i + 1, verb, m[1])

E = "mealie-recipes/mealie"
for f, lines in files("joostlek/python-mealie", "src/aiomealie/mealie.py"):
    for i, l in enumerate(lines):
        m = re.search(r'self\._(get|post|put|delete)\((?:\s*f?"([^"]*)")?', l)
        if m:
            path, at = m[2], i
            if not path:
                n = re.match(r'\s*f?"([^"]*)"', lines[i + 1])
                path, at = n[1], i + 1
            add(E, "joostlek/python-mealie", f, at + 1, m[1], path)

print("provider\tuser\tfile\tline\tmethod\tpath")
for row in out:
    print("\t".join(map(str, row)))
