// The little Markdown that plans use, drawn as elements. Nothing a person or
// an agent wrote ever becomes HTML.
import type { ReactNode } from "react";

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
  return <div className="md">{out}</div>;
}

/** One line with its `code` and **bold** drawn. */
export const Inline = ({ text }: { text: string }) => <>{inline(text)}</>;

function inline(s: string): ReactNode[] {
  return s.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part, i) => {
    if (part.startsWith("`") && part.length > 2)
      return (
        <code key={i} className="code">
          {part.slice(1, -1)}
        </code>
      );
    if (part.startsWith("**") && part.length > 4) return <b key={i}>{part.slice(2, -2)}</b>;
    return part;
  });
}
