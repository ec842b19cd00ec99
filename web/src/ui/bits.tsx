// The small things that every page is made of.
import { CopyButton as MantineCopy, Tooltip } from "@mantine/core";
import {
  IconAlertTriangleFilled,
  IconCheck,
  IconCopy,
  IconHandStop,
  IconInfoCircleFilled,
  IconPointFilled,
} from "./icons.gen";
import { useEffect, useState, type ReactNode } from "react";
import { Link } from "wouter";
import type { ConflictStatus, IntentStatus, SessionStatus, Severity } from "../api/records";
import * as text from "../lib/text";

export type Tone = "block" | "warn" | "info" | "good" | "quiet" | "accent";

export function Pill({ tone, children, dot = false, title }: { tone: Tone; children: ReactNode; dot?: boolean; title?: string }) {
  return (
    <span className={`pill pill-${tone}`} title={title}>
      {dot && <IconPointFilled size={10} aria-hidden />}
      {children}
    </span>
  );
}

const intentTone: Record<IntentStatus, Tone> = {
  draft: "quiet",
  active: "good",
  blocked: "block",
  in_review: "info",
  merged: "accent",
  abandoned: "quiet",
  expired: "quiet",
};
export const IntentPill = ({ status }: { status: IntentStatus }) => (
  <Pill tone={intentTone[status]} dot>
    {text.intentStatus[status]}
  </Pill>
);

const conflictTone: Record<ConflictStatus, Tone> = {
  open: "block",
  acknowledged: "warn",
  resolving: "info",
  resolved: "good",
  overridden: "accent",
  stale: "quiet",
};
// An open conflict is as alarming as it is severe.
const openTone: Record<Severity, Tone> = { block: "block", warn: "warn", info: "quiet", off: "quiet" };
export const ConflictPill = ({ status, severity }: { status: ConflictStatus; severity: Severity }) => (
  <Pill tone={status === "open" ? openTone[severity] : conflictTone[status]} dot>
    {text.conflictStatus[status]}
  </Pill>
);

export const SessionDot = ({ status }: { status: SessionStatus }) => (
  <span className={`session-dot session-${status}`} role="img" aria-label={text.sessionStatus[status]} title={text.sessionStatus[status]} />
);

const severityLook: Record<Severity, { tone: Tone; name: string; icon: ReactNode }> = {
  block: { tone: "block", name: "Blocks", icon: <IconHandStop size={13} aria-hidden /> },
  warn: { tone: "warn", name: "Warns", icon: <IconAlertTriangleFilled size={12} aria-hidden /> },
  info: { tone: "info", name: "Info", icon: <IconInfoCircleFilled size={12} aria-hidden /> },
  off: { tone: "quiet", name: "Off", icon: null },
};
export function SeverityPill({ severity }: { severity: Severity }) {
  const look = severityLook[severity];
  return (
    <span className={`pill pill-${look.tone}`}>
      {look.icon}
      {look.name}
    </span>
  );
}

/** A ref such as INT-7, linked to its page. */
export function Ref({ to }: { to: string }) {
  const base = to.startsWith("CF-") ? "/conflicts/" : "/intents/";
  return (
    <Link href={base + to} className="ref">
      {to}
    </Link>
  );
}

export function hueOf(s: string): number {
  let h = 0;
  for (const c of s) h = (h * 31 + c.charCodeAt(0)) % 360;
  return h;
}

export function initials(name: string): string {
  const parts = name.trim().split(/[\s@._-]+/).filter(Boolean);
  return ((parts[0]?.[0] ?? "?") + (parts.length > 1 ? (parts[1]?.[0] ?? "") : "")).toUpperCase();
}

export function Avatar({ user, size = 22 }: { user: { name: string; email: string } | null; size?: number }) {
  const name = user?.name ?? "?";
  return (
    <span
      className="avatar"
      style={{ width: size, height: size, fontSize: size * 0.42, ["--hue" as string]: hueOf(user?.email ?? name) }}
      title={user ? `${user.name} (${user.email})` : undefined}
      data-initials={initials(name)}
      aria-hidden
    />
  );
}

export const Person = ({ user, size }: { user: { name: string; email: string } | null; size?: number }) => (
  <span className="person">
    <Avatar user={user} size={size} />
    <span className="clip">{user?.name ?? "Somebody who left"}</span>
  </span>
);

// All relative times on a page tick together.
let now = Date.now();
const tickers = new Set<(n: number) => void>();
setInterval(() => {
  now = Date.now();
  for (const t of tickers) t(now);
}, 15_000);

export function useNow(): number {
  const [n, set] = useState(() => Date.now());
  useEffect(() => {
    tickers.add(set);
    return () => void tickers.delete(set);
  }, []);
  return n;
}

export function Ago({ at, prefix = "" }: { at: string; prefix?: string }) {
  const n = useNow();
  return (
    <time dateTime={at} title={text.exact(at)} className="ago">
      {prefix}
      {text.ago(at, Math.max(n, Date.now() - 15_000))}
    </time>
  );
}

export function Copy({ value, label = "Copy" }: { value: string; label?: string }) {
  return (
    <MantineCopy value={value} timeout={1600}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? "Copied" : label}>
          <button type="button" className="icon-button" onClick={copy} aria-label={copied ? "Copied" : label}>
            {copied ? <IconCheck size={15} className="tone-good" /> : <IconCopy size={15} />}
          </button>
        </Tooltip>
      )}
    </MantineCopy>
  );
}

/** A command to run, with a button to copy it. */
export function Command({ children }: { children: string }) {
  return (
    <div className="command">
      <code>{children}</code>
      <Copy value={children} label="Copy command" />
    </div>
  );
}

export const Code = ({ children, title }: { children: ReactNode; title?: string }) => (
  <code className="code" title={title}>
    {children}
  </code>
);

// A table whose rows a narrow screen shows as cards. The roles are those of the
// elements, which lose them there.
export function StackTable({ label, columns, children }: { label: string; columns: ReactNode[]; children: ReactNode }) {
  return (
    <table className="table table-stack" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((c, i) => (
            <th key={i} role="columnheader">
              {c}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">{children}</tbody>
    </table>
  );
}
