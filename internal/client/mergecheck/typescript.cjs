// Has a TypeScript compiler look at some files of a tree: only they are
// checked, the others are read for what they declare. What to look at comes by
// standard input, and what is wrong is said there as tsc says it:
// path(line,column): error CODE: text.
//
// With --serve it stays for a while, and is asked through the socket that it is
// given (descriptor 3). It reads a tree again and again then, of which little
// changes: what it parsed is used again. The compiler works in a thread of its
// own, so that whoever no longer waits for an answer ends it at once.
"use strict";
const fs = require("fs");
const { dirname, join } = require("path").posix;
const { isMainThread, parentPort, Worker } = require("worker_threads");

let ts;

// A Problem is why nothing could be looked at, by the exit code.
class Problem extends Error {
  constructor(code, text) {
    super(text);
    this.code = code;
  }
}

function load({ library, cache }) {
  try {
    require("module").enableCompileCache?.(cache);
  } catch {
    // it only takes longer
  }
  ts ??= require(library);
  if (!ts.createProgram || !ts.getParsedCommandLineOfConfigFile) {
    throw new Problem(64, "a compiler without this interface: it is run as a program");
  }
}

const inside = (dir, p) => p.startsWith(dir + "/");

// trees maps the names that the compiler sees to where files are. Merged, and
// either side alone, a tree has one name (as), so that what is the same in them
// is read once.
function trees({ root, tree, as }) {
  // Packages are installed in the working copy, not in the tree.
  const at = (p) => (p !== as && !inside(as, p) ? p : (/\/node_modules(\/|$)/.test(p.slice(as.length)) ? root : tree) + p.slice(as.length));
  // A workspace's packages are links to folders of the working copy; the tree
  // has them merged.
  const real = (p) => {
    const to = ts.sys.realpath(at(p));
    if (to === tree || inside(tree, to)) return as + to.slice(tree.length);
    return inside(root, to) && !to.slice(root.length).includes("/node_modules/") ? as + to.slice(root.length) : to;
  };
  return {
    at,
    reading: {
      fileExists: (p) => ts.sys.fileExists(at(p)),
      readFile: (p, encoding) => ts.sys.readFile(at(p), encoding),
      directoryExists: (p) => ts.sys.directoryExists(at(p)),
      getDirectories: (p) => ts.sys.getDirectories(at(p)),
      readDirectory: (p, ...more) => ts.sys.readDirectory(at(p), ...more).map((f) => (inside(at(p), f) ? p + f.slice(at(p).length) : f)),
      realpath: real,
      writeFile: () => {},
    },
  };
}

// What was parsed before, by the options that it was parsed with and its name:
// the texts that it had lately, each with the file that was made of it.
const parsedBefore = new Map();
const maxTexts = 3; // merged, and either side
let asked = 0;

// parse is a file that a program reads. A file is only used again for the same
// text, name and options, as editors do.
function parse(where, options, name, how) {
  const text = ts.sys.readFile(where.at(name));
  if (text === undefined) return undefined;
  const key = JSON.stringify([options, how, name]);
  const texts = parsedBefore.get(key) ?? { files: [], asked };
  parsedBefore.set(key, texts);
  texts.asked = asked;
  let file = texts.files.find((f) => f.text === text);
  if (file) return file;
  file = ts.createSourceFile(name, text, how);
  texts.files = [file, ...texts.files].slice(0, maxTexts);
  return file;
}

// forget drops what was not read lately.
function forget() {
  for (const [key, texts] of parsedBefore) {
    if (texts.asked < asked - 12) parsedBefore.delete(key);
  }
}

// place is a module's name without what may be left out of it.
const place = (p) => p.replace(/(\.d)?\.[cm]?[jt]sx?$/, "").replace(/\/index$/, "");

// imports are the names that files import, by their text: reading all of a
// project for them is dear.
const importsOf = new Map();

function imports(where, file) {
  const { mtimeMs, size, ino } = fs.statSync(where.at(file), { throwIfNoEntry: false }) ?? {};
  const stamp = [mtimeMs, size, ino].join();
  const known = importsOf.get(where.at(file));
  if (known?.stamp === stamp) return known.from;
  const from = [];
  for (const m of (ts.sys.readFile(where.at(file)) ?? "").matchAll(/\b(?:from|import|require)\s*\(?\s*["']([^"'\n]+)["']/g)) {
    const at = place(m[1]);
    from.push(at.startsWith(".") ? place(join(dirname(file), at)) : at.slice(at.indexOf("/")));
  }
  importsOf.set(where.at(file), { stamp, from });
  return from;
}

// look answers what was asked.
function look(question) {
  asked++;
  load(question);
  const { as, config, sides, only } = question;
  const where = trees(question);
  const wanted = sides.map((side) => new Set(side.map((f) => as + "/" + f)));
  const left = new Set([...wanted[0], ...wanted[1]].filter((f) => where.reading.fileExists(f)));
  const places = wanted.map((set) => new Set([...set].map(place)));
  const asking = only && new Set(only.map((f) => as + "/" + f));
  const seen = new Set();
  const said = [];

  // between tells of a file that neither side changed whether it imports from
  // what both did. Names that are not relative are compared by their ends.
  const between = (file) => {
    const from = imports(where, file);
    return places.every((side) => from.some((f) => side.has(f) || (f.length > 1 && !inside(as, f) && [...side].some((p) => p.endsWith(f)))));
  };

  const project = (file) => {
    if (seen.has(file) || seen.size > 40) return;
    seen.add(file);
    const parsed = ts.getParsedCommandLineOfConfigFile(file, { noEmit: true }, {
      ...ts.sys, ...where.reading, onUnRecoverableConfigFileDiagnostic: (d) => {
        throw new Problem(65, ts.flattenDiagnosticMessageText(d.messageText, " "));
      },
    });
    const mine = parsed.fileNames.filter((f) => left.has(f));
    if (mine.length > 0) check(parsed, mine);
    for (const ref of parsed.projectReferences ?? []) {
      if (left.size > 0) project(ts.resolveProjectReferencePath(ref));
    }
  };

  // check reads what the files need: of a large project that is a part.
  const check = (parsed, mine) => {
    const options = JSON.stringify(parsed.options);
    const host = Object.assign(ts.createCompilerHost(parsed.options), where.reading, {
      getSourceFile: (name, how) => parse(where, options, name, how),
      useSourceOfProjectReferenceRedirect: () => true,
      jsDocParsingMode: ts.JSDocParsingMode?.ParseForTypeErrors, // as tsc does
    });
    const declares = (f) => /\.d\.[cm]?ts$/.test(f);
    const others = parsed.fileNames.filter((f) => !left.has(f) && !declares(f) && between(f)).slice(0, 100);
    const rootNames = [...new Set([...mine, ...others, ...parsed.fileNames.filter(declares)])];
    const program = ts.createProgram({ rootNames, options: parsed.options, projectReferences: parsed.projectReferences, host });
    mine.forEach((f) => left.delete(f));
    for (const name of [...mine, ...others]) {
      const file = program.getSourceFile(name);
      if (!file || (asking && !asking.has(name))) continue;
      for (const d of [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]) {
        if (d.category !== ts.DiagnosticCategory.Error || !d.file) continue;
        const { line, character } = d.file.getLineAndCharacterOfPosition(d.start);
        const text = ts.flattenDiagnosticMessageText(d.messageText, " ").replace(/\s+/g, " ");
        said.push(`${d.file.fileName}(${line + 1},${character + 1}): error TS${d.code}: ${text}\n`);
      }
    }
  };

  project(config);
  forget();
  return said.join("");
}

// answer is what look says, or why it cannot.
function answer(text) {
  try {
    return { code: 0, out: look(JSON.parse(text)) };
  } catch (err) {
    return { code: err instanceof Problem ? err.code : 70, out: String(err?.message ?? err) };
  }
}

// serve answers one question after another, until nobody asked for a while.
function serve(socket, idle) {
  const worker = new Worker(__filename, { resourceLimits: { maxOldGenerationSizeMb: 1536, maxYoungGenerationSizeMb: 64 } });
  const end = () => process.exit(0);
  worker.on("error", end).on("exit", end);
  let waiting, rest = setTimeout(end, idle);
  setInterval(() => fs.existsSync(socket) || end(), 5000);
  const server = require("net").createServer((caller) => {
    let text = "";
    caller.setEncoding("utf8").on("error", () => {}).on("close", () => caller === waiting && end());
    caller.on("data", (more) => {
      text += more;
      if (!text.endsWith("\n")) return;
      if (waiting) return caller.destroy();
      if (text === "stop\n") return end();
      clearTimeout(rest);
      waiting = caller;
      worker.postMessage(text);
    });
  });
  worker.on("message", (said) => {
    const caller = waiting;
    waiting = undefined;
    caller.end(JSON.stringify(said));
    // It is limited in memory and in all the time that it may take: sooner here
    // than in the middle of a question.
    const { user, system } = process.cpuUsage();
    rest = setTimeout(end, (user + system) / 1e6 > 80 || process.memoryUsage().rss > 1.5 * 2 ** 30 ? 0 : idle);
  });
  server.listen({ fd: 3 });
}

if (!isMainThread) {
  parentPort.on("message", (text) => parentPort.postMessage(answer(text)));
} else if (process.argv[2] === "--serve") {
  serve(process.argv[3], Number(process.argv[4]));
} else {
  const { code, out } = answer(fs.readFileSync(0, "utf8"));
  fs.writeSync(1, out);
  process.exitCode = code;
}
