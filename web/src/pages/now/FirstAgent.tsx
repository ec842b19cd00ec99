// For an org where no agent has been seen: the three commands that connect
// the first one, ticked off as the server sees each happen.
import { IconCheck } from "@tabler/icons-react";
import type { Repo, Session } from "../../api/records";
import { useGet } from "../../lib/queries";
import { Command } from "../../ui/bits";
import { Section } from "../../ui/page";

export function FirstAgent({ repos, sessions }: { repos: Repo[]; sessions: Session[] }) {
  const tokens = useGet("tokens", "GET /v1/tokens", { query: { limit: 200 } });
  const connected = (tokens.data?.items ?? []).some((t) => !t.revoked_at && t.kind === "pat" && (t.last_used_at !== null || t.name.startsWith("cli · ")));
  const steps = [
    { done: connected || repos.length > 0, title: "Connect this machine", text: "A page opens where you approve it.", command: `svc login --server ${location.origin}` },
    { done: repos.length > 0, title: "Set up a repository", text: "Writes hooks for the agents it finds. Run it in a git repository with a remote; it is ticked off at the first event from there.", command: "svc init" },
    { done: sessions.length > 0, title: "Start your agent", text: "Any of the 18 supported ones. It appears here with its first prompt.", command: "claude" },
  ];
  const next = steps.findIndex((s) => !s.done);
  return (
    <Section title="Connect your first agent" sub="Three commands, about a minute. This list ticks itself off.">
      <ol className="steps">
        {steps.map((s, i) => (
          <li key={s.title} className={s.done ? "step step-done" : i === next ? "step step-next" : "step"}>
            <span className="step-mark" aria-hidden>
              {s.done ? <IconCheck size={15} stroke={2.4} /> : i + 1}
            </span>
            <div className="grow">
              <h3>
                {s.title}
                {s.done && <span className="sr-only"> (done)</span>}
              </h3>
              <p className="dim">{s.text}</p>
              {!s.done && <Command>{s.command}</Command>}
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}
