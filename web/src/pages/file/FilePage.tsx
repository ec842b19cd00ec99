// A file with what is under way in it: who works on which lines, as svc blame
// and editors show it. The code itself never leaves people's machines.
import { IconFile } from "../../ui/icons.gen";
import { Link } from "wouter";
import type { LiveFile, LiveWork } from "../../api/records";
import { lines, type Range } from "../../lib/conflict";
import { useGet } from "../../lib/queries";
import { plural, titleOf, toolName } from "../../lib/text";
import { contractPath, useFilter } from "../../lib/url";
import { Ago, Avatar, Code, Pill } from "../../ui/bits";
import { Empty, Load, Page, Section } from "../../ui/page";

export function FilePage() {
  const [repo] = useFilter("repo");
  const [path] = useFilter("path");
  const there = repo !== "" && path !== "";
  const live = useGet("live", "GET /v1/live", { query: { repo, path } }, { enabled: there });
  // All are counted in the version of the latest edit, as far as the server can tell how the two go together.
  const base = live.data?.work.find((w) => w.base)?.base ?? "";
  const same = useGet("live", "GET /v1/live", { query: { repo, path, base } }, { enabled: there && base !== "" });
  const name = path.split("/").at(-1) || "A file";
  return (
    <Page title={name} written sub={<span className="wrap">{there && <Code>{path}</Code>} {repo && <Link href={`/repos/${repo}`}>{repo}</Link>}</span>}>
      {!there ? (
        <Section pad={false}>
          <Empty icon={<IconFile size={22} stroke={1.5} />} title="Which file?">
            The address names a repo and a path.
          </Empty>
        </Section>
      ) : (
        <Load query={base ? same : live}>{(f) => <File file={f} base={base} />}</Load>
      )}
    </Page>
  );
}

/** Lines that a piece of work replaces; an insertion is drawn as the line before which it goes. */
const ranges = (w: LiveWork): Range[] => w.lines.map((l) => ({ start: l.start, end: l.start + Math.max(1, l.count) - 1 }));

function frame(file: LiveFile): Range {
  const all = file.work.flatMap(ranges);
  const to = Math.max(20, ...all.map((r) => r.end));
  return { start: 1, end: Math.round(to * 1.1) };
}

function File({ file: f, base }: { file: LiveFile; base: string }) {
  if (f.work.length === 0) {
    return (
      <Section pad={false}>
        <Empty icon={<IconFile size={22} stroke={1.5} />} title="Nobody is at work in this file">
          As soon as somebody changes or claims it, their lines show here.
        </Empty>
      </Section>
    );
  }
  const whole = frame(f);
  const size = whole.end - whole.start + 1;
  const at = (r: Range) => ({ left: `${((r.start - whole.start) / size) * 100}%`, width: `${((r.end - r.start + 1) / size) * 100}%` });
  return (
    <>
      <Section title="Who is where" sub={f.left > 0 ? `And ${plural(f.left, "more", "more")} at work here.` : undefined}>
        <div className="ruler-body" aria-hidden>
          <div className="ruler-scale dim">
            <span>{whole.start}</span>
            <span>{whole.end}</span>
          </div>
          {f.work.map((w, i) => (
            <div key={i} className="ruler-row">
              <span className="ruler-who clip" dir="auto">
                {w.own ? "you" : (w.developer?.name ?? "")}
              </span>
              <span className="ruler-track">
                {ranges(w).map((r, k) => (
                  <span key={k} className={`ruler-range ruler-${w.base === base ? "holder" : "soft"}`} style={at(r)} title={lines(r)} />
                ))}
              </span>
            </div>
          ))}
        </div>
        <ul className="rows file-work" aria-label="Who is where">
          {f.work.map((w, i) => (
            <WorkRow key={i} work={w} other={Boolean(w.base && base && w.base !== base)} />
          ))}
        </ul>
      </Section>
      {f.contracts.length > 0 && (
        <Section title="Used elsewhere">
          <ul className="rows-plain">
            {f.contracts.map((c) => (
              <li key={c.key} className="wrap">
                <Link href={contractPath(c.key, f.repo.full_name)}>{c.key}</Link>
                <span className="dim">
                  line {c.line}, {plural(c.users, "user")} in {plural(c.repos, "repo")}
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function WorkRow({ work: w, other }: { work: LiveWork; other: boolean }) {
  const where = ranges(w).map(lines).join(", ");
  return (
    <li className="row-item">
      <Avatar user={w.developer} size={22} />
      <span className="grow">
        <b dir="auto">{w.own ? "You" : w.developer?.name}</b>{" "}
        <span className="dim">
          {toolName(w.tool)}
          {w.branch && ` on ${w.branch}`}
        </span>
        <br />
        {w.intent && (
          <Link href={`/intents/${w.intent.ref}`} dir="auto">
            {titleOf({ ...w.intent, branch: w.branch })}
          </Link>
        )}{" "}
        <span className="dim">
          {where || (w.claim ? "claims it" : (w.status ?? "the whole file"))}
          {w.definitions.length > 0 && ` in ${w.definitions.map((d) => d.name).join(", ")}`}
          {other && ", counted in another version of the file"}
        </span>
      </span>
      {w.claim?.mode === "exclusive" && <Pill tone="warn">exclusive</Pill>}
      {w.session_id ? (
        <Link href={`/agents/${w.session_id}`} className="dim">
          <Ago at={w.edited_at ?? w.since} />
        </Link>
      ) : (
        <span className="dim">
          <Ago at={w.edited_at ?? w.since} />
        </span>
      )}
    </li>
  );
}
