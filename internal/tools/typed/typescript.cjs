// A small language server over TypeScript's own language service, for the whole
// of a project: what the usual one leaves to an editor (diagnostics on request,
// of files that nobody has open), and warm from one tree to the next.
const ts = require(process.argv[1])

let root = "", service, program, names = [], options = {}, stale = true, moved = true
const versions = new Map(), texts = new Map()

const host = {
  ...ts.sys,
  useCaseSensitiveFileNames: () => true,
  getCompilationSettings: () => options,
  getScriptFileNames: () => names,
  getScriptVersion: (f) => String(versions.get(f) ?? 0),
  getScriptSnapshot(f) {
    if (!texts.has(f)) texts.set(f, ts.sys.readFile(f))
    const text = texts.get(f)
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: (o) => ts.getDefaultLibFilePath(o),
  hasInvalidatedResolutions: () => moved,
}

// fresh reads the settings again after a change: files come and go.
function fresh() {
  if (stale) {
    const more = { noEmit: true, skipLibCheck: true, types: [] }
    const cfg = ts.getParsedCommandLineOfConfigFile(root + "/tsconfig.json", more, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} })
    // All files, by the project's options: the settings of many leave the tests out.
    names = ts.sys.readDirectory(root, [".ts", ".tsx"], ["node_modules"])
    options = cfg ? cfg.options : more
    stale = false
    service ??= ts.createLanguageService(host)
    program = service.getProgram() // once: the service looks at every file for each question
    moved = false
  }
  return service
}

const file = (uri) => decodeURIComponent(uri.slice("file://".length))
const source = (f) => fresh() && program.getSourceFile(f)
const offset = (f, p) => source(f)?.getPositionOfLineAndCharacter(p.line, p.character)

function span(f, at) {
  const s = source(f)
  return { start: s.getLineAndCharacterOfPosition(at.start), end: s.getLineAndCharacterOfPosition(at.start + at.length) }
}

const kinds = { method: 6, property: 7, class: 5, interface: 11, function: 12, enum: 10, type: 26, const: 14, let: 13, var: 13, getter: 7, setter: 7 }

function symbols(f, items) {
  return (items ?? []).filter((i) => i.nameSpan && kinds[i.kind]).map((i) => ({ name: i.text, kind: kinds[i.kind],
    selectionRange: span(f, i.nameSpan), range: span(f, i.spans[0]), children: symbols(f, i.childItems) }))
}

const asked = {
  initialize(p) {
    root = file(p.rootUri)
    return { capabilities: {} }
  },
  "textDocument/documentSymbol": (p, f) => (source(f) ? symbols(f, fresh().getNavigationTree(f).childItems) : []),
  "textDocument/rename"(p, f) {
    const at = fresh().findRenameLocations(f, offset(f, p.position), false, false, { providePrefixAndSuffixTextForRename: true }) ?? []
    const changes = {}
    for (const l of at) {
      const edit = { range: span(l.fileName, l.textSpan), newText: (l.prefixText ?? "") + p.newName + (l.suffixText ?? "") }
      ;(changes["file://" + l.fileName] ??= []).push(edit)
    }
    return { changes }
  },
  "textDocument/references": (p, f) => (fresh().getReferencesAtPosition(f, offset(f, p.position)) ?? []).map((l) =>
    ({ uri: "file://" + l.fileName, range: span(l.fileName, l.textSpan) })),
  "textDocument/diagnostic": (p, f) => ({ items: (source(f) ? [...program.getSyntacticDiagnostics(source(f)),
    ...program.getSemanticDiagnostics(source(f))] : []).map((d) => ({ severity: d.category === ts.DiagnosticCategory.Error ? 1 : 2,
      message: "TS" + d.code + ": " + ts.flattenDiagnosticMessageText(d.messageText, " ") })) }),
}

function changed(params) {
  for (const c of params.changes) {
    const f = file(c.uri)
    versions.set(f, (versions.get(f) ?? 0) + 1)
    texts.delete(f)
    moved ||= c.type !== 2
    stale = true
  }
}

function answer(m) {
  if (m.method === "workspace/didChangeWatchedFiles") changed(m.params)
  if (m.id === undefined || !asked[m.method]) return
  const reply = { jsonrpc: "2.0", id: m.id }
  try {
    reply.result = asked[m.method](m.params, m.params.textDocument && file(m.params.textDocument.uri))
  } catch (e) {
    reply.error = { message: String(e) }
  }
  const text = Buffer.from(JSON.stringify(reply))
  process.stdout.write("Content-Length: " + text.length + "\r\n\r\n")
  process.stdout.write(text)
}

let input = Buffer.alloc(0)
process.stdin.on("data", (some) => {
  input = Buffer.concat([input, some])
  for (;;) {
    const head = input.indexOf("\r\n\r\n")
    if (head < 0) return
    const size = Number(/Content-Length: (\d+)/.exec(input.subarray(0, head).toString())[1])
    if (input.length < head + 4 + size) return
    const m = JSON.parse(input.subarray(head + 4, head + 4 + size).toString())
    input = input.subarray(head + 4 + size)
    answer(m)
  }
})
process.stdin.on("end", () => process.exit(0))
