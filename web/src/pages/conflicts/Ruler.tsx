// The file as a ruler: both sides' lines drawn on it, and where they meet.
import type { Conflict, Evidence, Party, Repo } from "../../api/records";
import { call, side } from "../../lib/advice";
import { filesOf, lines, type Range, type SharedFile } from "../../lib/conflict";
import { fileUrl } from "../../lib/githost";
import { filePath } from "../../lib/url";
import { Link } from "wouter";

const most = 4; // files that are drawn

/** Files where at least one side has lines. Two repositories have no file in common, whatever it is called. */
export const drawn = (c: Conflict): SharedFile[] => (c.cross_repo ? [] : filesOf(c)).filter((f) => [...f.holder, ...f.challenger].some((e) => e.lines)).sort((a, b) => b.both.length - a.both.length);

export function Rulers({ conflict: c, repo }: { conflict: Conflict; repo: Repo | undefined }) {
  const files = drawn(c);
  return (
    <div className="rulers">
      {files.slice(0, most).map((f) => (
        <Ruler key={f.path} file={f} conflict={c} repo={repo} />
      ))}
      {files.length > most && <p className="dim">And {files.length - most} more files; the evidence below lists them.</p>}
    </div>
  );
}

/** The part of the file that is worth drawing, with some air around it. */
function frame(f: SharedFile): Range {
  const all = [...f.holder, ...f.challenger].flatMap((e) => e.lines ?? []);
  const [from, to] = [Math.min(...all.map((r) => r.start)), Math.max(...all.map((r) => r.end))];
  const air = Math.max(4, Math.round((to - from) * 0.15));
  return { start: Math.max(1, from - air), end: to + air };
}

const nameOf = (symbol: string): string => symbol.split("#").at(-1) ?? symbol;

function Ruler({ file: f, conflict: c, repo }: { file: SharedFile; conflict: Conflict; repo: Repo | undefined }) {
  const whole = frame(f);
  const size = whole.end - whole.start + 1;
  const at = (r: Range) => ({ left: `${((r.start - whole.start) / size) * 100}%`, width: `${((r.end - r.start + 1) / size) * 100}%` });
  const rows: { role: Party["role"]; party: Party | undefined; evidence: Evidence[] }[] = [
    { role: "holder", party: side(c, "holder"), evidence: f.holder },
    { role: "challenger", party: side(c, "challenger"), evidence: f.challenger },
  ];
  const named = [...f.holder, ...f.challenger].filter((e, i, all) => e.symbol && e.lines && all.findIndex((x) => x.symbol === e.symbol) === i);
  return (
    <figure className="ruler" aria-label={describe(f, c)}>
      <figcaption>
        <Link href={filePath(c.repo.full_name, f.path)}>
          <code className="code">{f.path}</code>
        </Link>
        {f.both.length > 0 && <b className="tone-block">both: {f.both.map(lines).join(", ")}</b>}
        {f.both.length === 0 && <span className="dim">no line is touched by both</span>}
      </figcaption>
      <div className="ruler-body" aria-hidden>
        <div className="ruler-scale dim">
          <span>{whole.start}</span>
          <span>{whole.end}</span>
        </div>
        {named.length > 0 && (
          <div className="ruler-row">
            <span />
            <span className="ruler-names">
              {named.map((e) => (
                <code key={e.symbol} className="ruler-name" style={at(e.lines!)} title={e.symbol ?? undefined}>
                  {nameOf(e.symbol!)}
                </code>
              ))}
            </span>
          </div>
        )}
        {rows.map(({ role, party, evidence }) => (
          <div key={role} className="ruler-row">
            <span className="ruler-who clip" dir="auto">
              {call(party)}
            </span>
            <span className="ruler-track">
              {f.both.map((r) => (
                <span key={`${r.start}`} className="ruler-both" style={at(r)} />
              ))}
              {evidence.map((e, i) => e.lines && <span key={i} className={`ruler-range ruler-${e.via === "change" ? role : "soft"}`} style={at(e.lines)} title={`${lines(e.lines)}${e.symbol ? ` ${nameOf(e.symbol)}` : ""}`} />)}
            </span>
          </div>
        ))}
      </div>
      <ul className="ruler-text">
        {rows.map(({ role, party, evidence }) => (
          <li key={role}>
            <span className={`ruler-key ruler-${role}`} aria-hidden />
            <b dir="auto">{call(party)}</b>
            {evidence.length === 0 && <span className="dim">nothing here</span>}
            {evidence.map((e, i) => {
              const url = e.lines && fileUrl(repo, party?.branch, f.path, e.lines);
              const text = e.lines ? lines(e.lines) : "the whole file";
              return (
                <span key={i}>
                  {url ? (
                    <a href={url} target="_blank" rel="noreferrer noopener">
                      {text}
                    </a>
                  ) : (
                    text
                  )}
                  {e.symbol && <code className="code">{nameOf(e.symbol)}</code>}
                </span>
              );
            })}
          </li>
        ))}
      </ul>
    </figure>
  );
}

const describe = (f: SharedFile, c: Conflict): string =>
  `${f.path}: ${(["holder", "challenger"] as const).map((role) => `${call(side(c, role))} at ${f[role].map((e) => (e.lines ? lines(e.lines) : "the whole file")).join(", ") || "no lines"}`).join("; ")}; both at ${f.both.map(lines).join(", ") || "no line"}`;
