// The little Markdown that plans use, drawn as elements. Nothing a person or
// an agent wrote ever becomes HTML.
import type { ReactNode } from "react";
import { Link } from "wouter";
import { sentence } from "../api/visible";

export function Markdown({ text }: { text: string }) {
  const out: ReactNode[] = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (line.startsWith("```")) {
      const code: string[] = [];
      while (++i < lines.length && !lines[i]!.startsWith("```")) code.push(lines[i]!);
      out.push(
        <pre key={i} tabIndex={0}>
          {code.join("\n")}
        </pre>,
      );
      continue;
    }
    const heading = /^#{1,6} (.*)/.exec(line);
    const task = /^\s*[-*] \[( |x|X)\] (.*)/.exec(line);
    const bullet = /^\s*[-*] (.*)/.exec(line);
    const step = /^\s*(\d{1,9})[.)] (.*)/.exec(line);
    if (heading) out.push(<h4 key={i}>{inline(heading[1]!)}</h4>);
    else if (task)
      out.push(
        <p key={i}>
          {task[1] === " " ? "☐" : "☑"} {inline(task[2]!)}
        </p>,
      );
    else if (bullet)
      out.push(
        <ul key={i}>
          <li>{inline(bullet[1]!)}</li>
        </ul>,
      );
    else if (step)
      out.push(
        <ol key={i} start={Number(step[1])}>
          <li>{inline(step[2]!)}</li>
        </ol>,
      );
    else if (line.trim()) out.push(<p key={i}>{inline(line)}</p>);
  }
  return (
    <div className="md" dir="auto">
      {out}
    </div>
  );
}

/** One sentence of the service with its `code` and **bold** drawn. */
export const Inline = ({ text }: { text: string }) => <>{inline(sentence(text))}</>;

/** What somebody said: lines as they are, with code, addresses and refs drawn. */
export function Said({ text }: { text: string }) {
  return (
    <div className="post-body">
      {text.split(/^(```[^\n]*\n[\s\S]*?(?:\n```[ \t]*(?=\n|$)|$))/m).map((part, i) =>
        i % 2 ? (
          <pre key={i} tabIndex={0} className="post-code">
            {part.replace(/^```[^\n]*\n/, "").replace(/\n?```[ \t]*$/, "")}
          </pre>
        ) : (
          part.trim() && (
            <div key={i} dir="auto">
              {inline(part.replace(/^\n|\n$/g, ""), true)}
            </div>
          )
        ),
      )}
    </div>
  );
}

const plainParts = /(`[^`\n]+`|\*\*[^*\n]+\*\*)/;
const saidParts = /(`[^`\n]+`|\*\*[^*\n]+\*\*|https?:\/\/[^\s<>"'`]+|\b(?:INT|CF)-\d+\b)/;
// An address is a link only where it is plain to see where it leads: no names before the host, nothing unusual in it.
const plainAddress = /^https?:\/\/[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?([/?#][\w.~:/?#!$&*+,;=%-]*)?$/i;

function Address({ text }: { text: string }) {
  const url = text.replace(/[.,;:!?)\]}]+$/, "");
  if (!plainAddress.test(url)) return <>{text}</>;
  return (
    <>
      <a href={url} target="_blank" rel="noreferrer noopener">
        {url}
      </a>
      {text.slice(url.length)}
    </>
  );
}

function inline(s: string, links = false): ReactNode[] {
  return s.split(links ? saidParts : plainParts).map((part, i) => {
    if (i % 2 === 0) return part;
    if (part.startsWith("`"))
      return (
        <code key={i} className="code">
          {part.slice(1, -1)}
        </code>
      );
    if (part.startsWith("**")) return <b key={i}>{part.slice(2, -2)}</b>;
    if (/^(INT|CF)-/.test(part))
      return (
        <Link key={i} href={(part.startsWith("CF-") ? "/conflicts/" : "/intents/") + part}>
          {part}
        </Link>
      );
    return <Address key={i} text={part} />;
  });
}
