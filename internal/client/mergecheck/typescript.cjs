// Has a TypeScript compiler look at some files of a tree: only they are
// checked, the others are read for what they declare. Written to by standard
// input; says path(line,column): error CODE: text.
"use strict";
const { readFileSync } = require("fs");
const { dirname, join } = require("path").posix;
const { library, root, tree, config, cache, sides } = JSON.parse(readFileSync(0, "utf8"));
try {
  require("module").enableCompileCache?.(cache);
} catch {
  // it only takes longer
}
const ts = require(library);
if (!ts.createProgram || !ts.getParsedCommandLineOfConfigFile) {
  process.exit(64); // a compiler without this interface: it is run as a program
}

const inside = (dir, p) => p.startsWith(dir + "/");
// Packages are installed in the working copy, not in the tree.
const installed = (p) => (inside(tree, p) && /\/node_modules(\/|$)/.test(p.slice(tree.length)) ? root + p.slice(tree.length) : p);
// A workspace's packages are links to folders of the working copy; the tree has
// them merged.
const real = (p) => {
  const at = ts.sys.realpath(installed(p));
  return inside(root, at) && !at.slice(root.length).includes("/node_modules/") ? tree + at.slice(root.length) : at;
};
const reading = {
  fileExists: (p) => ts.sys.fileExists(installed(p)),
  readFile: (p, encoding) => ts.sys.readFile(installed(p), encoding),
  directoryExists: (p) => ts.sys.directoryExists(installed(p)),
  getDirectories: (p) => ts.sys.getDirectories(installed(p)),
  realpath: real,
  writeFile: () => {},
};

const wanted = [new Set(sides[0].map((f) => tree + "/" + f)), new Set(sides[1].map((f) => tree + "/" + f))];
const left = new Set([...wanted[0], ...wanted[1]].filter((f) => ts.sys.fileExists(f)));
const seen = new Set();

// place is a module's name without what may be left out of it.
const place = (p) => p.replace(/(\.d)?\.[cm]?[jt]sx?$/, "").replace(/\/index$/, "");
const places = wanted.map((set) => [...set].map(place));

// between tells of a file that neither side changed whether it imports from
// what both did. Names that are not relative are compared by their ends.
function between(file) {
  const from = [];
  for (const m of (ts.sys.readFile(file) ?? "").matchAll(/\b(?:from|import|require)\s*\(?\s*["']([^"'\n]+)["']/g)) {
    const at = place(m[1]);
    from.push(at.startsWith(".") ? place(join(dirname(file), at)) : at.slice(at.indexOf("/")));
  }
  return places.every((side) => from.some((f) => f.length > 1 && side.some((p) => p === f || (!inside(tree, f) && p.endsWith(f)))));
}

function project(file) {
  if (seen.has(file) || seen.size > 40) return;
  seen.add(file);
  const parsed = ts.getParsedCommandLineOfConfigFile(file, { noEmit: true }, {
    ...ts.sys, ...reading, onUnRecoverableConfigFileDiagnostic: (d) => {
      console.error(ts.flattenDiagnosticMessageText(d.messageText, " "));
      process.exit(65);
    },
  });
  const mine = parsed.fileNames.filter((f) => left.has(f));
  if (mine.length > 0) check(parsed, mine);
  for (const ref of parsed.projectReferences ?? []) {
    if (left.size > 0) project(ts.resolveProjectReferencePath(ref));
  }
}

// check reads what the files need: of a large project that is a part.
function check(parsed, mine) {
  const host = Object.assign(ts.createCompilerHost(parsed.options), reading, {
    useSourceOfProjectReferenceRedirect: () => true,
    jsDocParsingMode: ts.JSDocParsingMode?.ParseForTypeErrors, // as tsc does
  });
  const declarations = parsed.fileNames.filter((f) => /\.d\.[cm]?ts$/.test(f));
  const others = parsed.fileNames.filter((f) => !left.has(f) && !/\.d\.[cm]?ts$/.test(f) && between(f)).slice(0, 100);
  const rootNames = [...new Set([...mine, ...others, ...declarations])];
  const program = ts.createProgram({ rootNames, options: parsed.options, projectReferences: parsed.projectReferences, host });
  mine.forEach((f) => left.delete(f));
  for (const file of [...mine, ...others].map((f) => program.getSourceFile(f))) {
    if (!file) continue;
    for (const d of [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]) {
      if (d.category !== ts.DiagnosticCategory.Error || !d.file) continue;
      const { line, character } = d.file.getLineAndCharacterOfPosition(d.start);
      const text = ts.flattenDiagnosticMessageText(d.messageText, " ").replace(/\s+/g, " ");
      console.log(`${d.file.fileName}(${line + 1},${character + 1}): error TS${d.code}: ${text}`);
    }
  }
}

project(config);
