// For an org where no agent has been seen: the commands that install svc and connect
// the first one, ticked off as the server sees each happen.
import { IconCheck } from "../../ui/icons.gen";
import { useQuery } from "@tanstack/react-query";
import type { Repo, Session } from "../../api/records";
import { useGet } from "../../lib/queries";
import { Command } from "../../ui/bits";
import { Section } from "../../ui/page";

interface Artifact {
  os: string;
  arch: string;
  url: string;
}

/** The system that the reader sits at, as Go calls it. */
function systemHere(): { os: string; name: string; arch: string } {
  const ua = navigator.userAgent;
  const arch = /arm64|aarch64/i.test(ua) || /Macintosh/.test(ua) ? "arm64" : "amd64";
  if (/Windows/i.test(ua)) return { os: "windows", name: "Windows", arch };
  if (/Mac OS X|Macintosh/i.test(ua)) return { os: "darwin", name: "macOS", arch };
  return { os: "linux", name: "Linux", arch };
}

/** How svc comes onto this system: from this server if it offers it, else built from its source. */
function useInstall(): { system: string; text: string; command: string } {
  const here = systemHere();
  const release = useQuery({ queryKey: ["release"], staleTime: Infinity, retry: false, queryFn: () => fetch("/cli/latest.json").then((r) => r.json() as Promise<{ artifacts?: Artifact[] }>) });
  const offered = release.data?.artifacts?.filter((a) => a.os === here.os) ?? [];
  const fit = offered.find((a) => a.arch === here.arch) ?? offered[0];
  if (!fit) {
    const command = here.os === "windows" ? "go build -o svc.exe ./cmd/svc" : "make build && sudo install bin/svc /usr/local/bin";
    return { system: here.name, text: "This server offers no program for it. In a copy of its source, with Go and Node.js there:", command };
  }
  const url = new URL(fit.url, `${location.origin}/cli/`).href;
  const command = here.os === "windows" ? `curl.exe -fLo svc.exe ${url}` : `curl -fLo svc ${url} && chmod +x svc && sudo mv svc /usr/local/bin/`;
  return { system: here.name, text: here.os === "windows" ? `For ${fit.arch}. Put svc.exe into a folder of your PATH: agents start it by name.` : `For ${fit.arch}. Agents start it by name, so it has to be on the PATH.`, command };
}

export function FirstAgent({ repos, sessions }: { repos: Repo[]; sessions: Session[] }) {
  const tokens = useGet("tokens", "GET /v1/tokens", { query: { limit: 200 } });
  const connected = (tokens.data?.items ?? []).some((t) => !t.revoked_at && t.kind === "pat" && (t.last_used_at !== null || t.name.startsWith("cli · ")));
  const install = useInstall();
  const steps = [
    { done: connected || repos.length > 0, title: `Install svc on ${install.system}`, text: install.text, command: install.command },
    { done: connected || repos.length > 0, title: "Connect this machine", text: "A page opens where you approve it.", command: `svc login --server ${location.origin}` },
    { done: repos.length > 0, title: "Set up a repository", text: "Writes hooks for the agents it finds. Run it in a git repository with a remote; it is ticked off at the first event from there.", command: "svc init" },
    { done: sessions.length > 0, title: "Start your agent", text: "Any of the 18 supported ones. It appears here with its first prompt.", command: "claude" },
  ];
  const next = steps.findIndex((s) => !s.done);
  return (
    <Section title="Connect your first agent" sub="Four steps, about a minute. This list ticks itself off.">
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
