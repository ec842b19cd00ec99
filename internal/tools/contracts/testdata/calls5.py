#!/usr/bin/env python3
"""Writes calls5.tsv as calls4.py writes calls4.tsv. usage: calls5.py FOLDER

Left out, by reading the servers: what goes to plugins that are not in the
server's repository, and what it no longer has."""
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
    path = re.sub(r"\$\{[^}]*\}|\{[^}]*\}|%d|%s", "{}", path.split("?")[0])
    path = re.sub(r"\.(json|xml)$", "", path)
    out.append((provider, user, file, line, method.upper(), "/" + path.strip("/")))


# Listmonk: where the path stands, once for each method that it is asked with.
L, U = "knadh/listmonk", "mikeckennedy/listmonk"
asked = {}
for f, lines in files(U, "listmonk/impl/__init__.py"):
    for i, l in enumerate(lines):
        m = re.search(r"\{urls\.(\w+)", l)
        v = m and re.search(r"httpx2?\.(get|post|put|delete)\(", "\n".join(lines[i:i + 40]))
        if v:
            asked.setdefault(m[1], set()).add(v[1])
for f, lines in files(U, "listmonk/urls.py"):
    for i, l in enumerate(lines):
        m = re.match(r"(\w+) = '([^']*)'", l)
        for verb in sorted(asked.get(m[1], ())) if m else ():
            add(L, U, f, i + 1, verb, m[2])
for f, lines in files("Exayn/go-listmonk", "*.go"):
    for i, l in enumerate(lines):
        m = re.search(r'endpoint:\s*(?:fmt\.Sprintf\()?"([^"]*)"', l)
        v = m and re.search(r"http\.Method(\w+)", lines[i - 1])
        if v and "blocklists" not in m[1] and not f.endswith("_test.go"):
            add(L, "Exayn/go-listmonk", f, i + 1, v[1], "/api" + m[1])

# Redmine.
R = "redmine/redmine"
for f, lines in files("kbsali/php-redmine-api", "src/Redmine/Api/*.php"):
    for i, l in enumerate(lines):
        m = re.search(r"""('/[a-z_]+[./'].*?)(?:, \$params\)|,$|;$|\)->)""", l)
        if not m or "strpos" in l:
            continue
        near = "\n".join(lines[max(0, i - 3):i + 1])
        v = re.findall(r"'(GET|POST|PUT|DELETE)'", near)
        verb = "GET" if "retrieveData" in l or "$path =" in l else v[-1] if v else None
        path = re.sub(r"' \. .*? \. '", "{}", m[1])
        path = re.sub(r"' \. [^']*$", "{}", path).strip("'")
        if verb:
            add(R, "kbsali/php-redmine-api", f, i + 1, verb, path)
for f, lines in files("arstella-ltd/RedmineCLI", "RedmineCLI/**/*.cs"):
    for i, l in enumerate(lines):
        m = re.search(r'(?:var path = |[?:] |GetAsync\()\$?"(?:\{url\})?(/[a-z_]+[./][^"]*)"', l)
        v = m and re.search(r"\b(Get|Post|Put|Delete)Async", "\n".join(lines[i:i + 110]))
        if v:
            add(R, "arstella-ltd/RedmineCLI", f, i + 1, v[1], re.sub(r"\{queryString\}", "", m[1]))

# Kimai; absences, holidays, work contracts and tokens are plugins'.
K = "kimai/kimai"
for f, lines in files("glazperle/kimai_mcp", "src/kimai_mcp/client.py"):
    for i, l in enumerate(lines):
        m = re.search(r'_request\("(\w+)", f?"(/[^"]*)"', l)
        if m and not re.search(r"/(absences|work-contract|public-holidays)\b|\{entity\}|\}/api-token", m[2]):
            add(K, "glazperle/kimai_mcp", f, i + 1, m[1], "/api" + m[2])
        elif "/preferences" in l:
            add(K, "glazperle/kimai_mcp", f, i + 1, "PATCH", "/api/users/{}/preferences")
for f, lines in files("Engazan/KimaiTray", "src/api/*.ts"):
    for i, l in enumerate(lines):
        m = re.search(r"""(?:const path = |client\.\w+(?:<\w+>)?\()["`](/api/[^"`]*)["`]""", l)
        v = m and re.search(r"client\.(get|post|patch|del)\b", "\n".join(lines[i:i + 8]))
        if v and not re.search(r"test", f):
            add(K, "Engazan/KimaiTray", f, i + 1, "DELETE" if v[1] == "del" else v[1], m[1])

# Firefly III.
F = "firefly-iii/firefly-iii"
names = {}
for f, lines in files("emansih/FireflyMobile", "app/src/main/java/xyz/hisname/fireflyiii/Constants.kt"):
    names.update(re.findall(r'const val (\w+) = "([^"]*)"', "\n".join(lines)))
for f, lines in files("emansih/FireflyMobile", "app/src/main/java/xyz/hisname/fireflyiii/data/remote/firefly/api/*.kt"):
    for i, l in enumerate(lines):
        m = re.search(r"@(GET|POST|PUT|DELETE)\((.*)\)", l)
        if not m or "OAUTH" in l:
            continue
        path = re.sub(r"\$\{?(?:Constants\.)?([A-Z_]+)\}?", lambda x: names.get(x[1], "?"), m[2])
        path = re.sub(r"^(?:Constants\.)?([A-Z_]+)$", lambda x: names.get(x[1], "?"), path).strip('"')
        gone = r"available_budgets|piggy_banks|search/accounts/|currencies/default"
        if path != "?" and not re.search(gone, path):
            add(F, "emansih/FireflyMobile", f, i + 1, m[1], path)
for f, lines in files("afonsoc12/firefly-cli", "firefly_cli/api.py"):
    for i, l in enumerate(lines):
        m = re.search(r'self\._(get|post)\((?:endpoint=)?f?"([^"]*)"', l)
        if m:
            add(F, "afonsoc12/firefly-cli", f, i + 1, m[1], "/api/v1/" + m[2])

print("provider\tuser\tfile\tline\tmethod\tpath")
for row in out:
    print("\t".join(map(str, row)))
