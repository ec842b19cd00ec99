import { Link } from "wouter";
import { clock, exact, toolName } from "../../lib/text";
import { Copy } from "../../ui/bits";
import type { Picture } from "./data";

interface Fact {
  at: number;
  who: string;
  what: string;
  href: string;
}

/** The same facts as the lanes, one a line, newest first. */
export function factsOf(p: Picture, from: number, to: number): Fact[] {
  const who = new Map(p.lanes.map((l) => [l.id, `${l.agent.user.name}'s ${toolName(l.agent.session.tool)}`]));
  const facts = p.lanes.flatMap((l) => [...l.marks.map((m) => ({ at: m.at, who: who.get(l.id)!, what: m.text, href: m.href })), ...l.waits.map((w) => ({ at: w.from, who: who.get(l.id)!, what: `${w.text}${w.to ? `, until ${clock(w.to)}` : ", still"}`, href: w.href }))]);
  for (const k of p.links) facts.push({ at: k.from, who: `${who.get(k.a)} and ${who.get(k.b)}`, what: `collide in ${k.text}${k.to ? `, until ${clock(k.to)}` : ", still"}`, href: `/conflicts/${k.ref}` });
  return facts.filter((f) => f.at >= from && f.at <= to).sort((a, b) => b.at - a.at);
}

const most = 400;
const quoted = (s: string): string => `"${s.replaceAll('"', '""')}"`;

export function LaneTable({ picture, from, to }: { picture: Picture; from: number; to: number }) {
  const facts = factsOf(picture, from, to);
  const csv = ["time,who,what", ...facts.map((f) => [new Date(f.at).toISOString(), f.who, f.what].map(quoted).join(","))].join("\n");
  return (
    <div className="lane-table">
      <p className="row dim">
        <span className="grow">{facts.length > most ? `The newest ${most} of ${facts.length}; all of them in the copy.` : `${facts.length} in all.`}</span> <Copy value={csv} label="Copy as CSV" />
      </p>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
          </tr>
        </thead>
        <tbody>
          {facts.slice(0, most).map((f, i) => (
            <tr key={i}>
              <td className="nowrap" title={exact(new Date(f.at).toISOString())}>
                {clock(f.at)}
              </td>
              <td dir="auto">{f.who}</td>
              <td>{f.href ? <Link href={f.href}>{f.what}</Link> : f.what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
