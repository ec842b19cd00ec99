// Shown to people without an agent: the commands that install svc and connect
// their first one, ticked off as the server sees each happen.
import { Button } from "@mantine/core";
import { IconCheck, IconRobotOff } from "../../ui/icons.gen";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { Command } from "../../ui/bits";
import { Empty, Section } from "../../ui/page";

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

/** Whether svc has been used on a machine of the reader's, and whether an agent of theirs was ever seen. */
function useOwn(): { connected: boolean; seen: boolean } | null {
  const tokens = useGet("tokens", "GET /v1/tokens", { query: { limit: 200 } });
  const sessions = useGet("sessions", "GET /v1/sessions", { query: { person: "me", limit: 1 } });
  if (!tokens.data || !sessions.data) return null;
  const seen = sessions.data.items.length > 0;
  return { seen, connected: seen || tokens.data.items.some((t) => !t.revoked_at && t.kind === "pat" && (t.last_used_at !== null || t.name.startsWith("cli · "))) };
}

const Nobody = () => (
  <Section>
    <Empty icon={<IconRobotOff size={22} stroke={1.5} />} title="No agent is at work">
      Agents appear with their first prompt and leave when their session ends.
    </Empty>
  </Section>
);

/** Until the reader's first agent has been seen: how to connect one. Among others' agents it can be put away, and
 * once begun it stays for the last tick. */
export function FirstAgent({ alone }: { alone: boolean }) {
  const me = useMe();
  const own = useOwn();
  const install = useInstall();
  const key = `svc-connect-later ${me.org.id}`;
  const [later, setLater] = useState(() => localStorage.getItem(key) !== null);
  const [begun, setBegun] = useState(false);
  useEffect(() => {
    if (own && !own.seen) setBegun(true);
  }, [own]);
  const putAway = () => {
    localStorage.setItem(key, "1");
    setLater(true);
  };
  if (!own || (!alone && later)) return null;
  if (own.seen && !begun) return alone ? <Nobody /> : null;
  const steps = [
    { done: own.connected, title: `Install svc on ${install.system}`, text: install.text, command: install.command },
    { done: own.connected, title: "Connect this machine", text: "Run it in a clone of your repository. A page opens where you approve it; then it sets up the agents it finds.", command: `svc login --server ${location.origin}` },
    { done: own.seen, title: "Start your agent", text: own.seen ? "Its first hook has arrived: it is told of the others, and they of it." : "Any of the 18 supported ones. It appears here with its first prompt.", command: "claude" },
  ];
  const next = steps.findIndex((s) => !s.done);
  return (
    <Section
      title={own.seen ? "Your agent is connected" : alone ? "Connect your first agent" : "Connect your agent"}
      sub={alone ? "Three steps, about a minute. This list ticks itself off." : "The agents below are your team's. Two commands add yours; this list ticks itself off."}
      actions={
        !alone && (
          <Button variant="default" size="xs" onClick={putAway}>
            {own.seen ? "Done" : "Not now"}
          </Button>
        )
      }
    >
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
