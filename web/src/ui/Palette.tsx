// The command palette: pages, refs, people's work and everything the search
// finds, from the keyboard.
import { Modal } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconArrowRight, IconCornerDownLeft, IconFolder, IconHash, IconMoon, IconSearch, IconTargetArrow, IconTerminal2, IconUser, IconUserPlus, type Icon } from "./icons.gen";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useMantineColorScheme } from "@mantine/core";
import { useGet, useLiveIntents, useMembers, useRepos } from "../lib/queries";
import { pathOfHit } from "../lib/url";
import { nav } from "./nav";
import type { PaletteState } from "./paletteState";

interface Choice {
  id: string;
  label: string;
  hint: string;
  icon: Icon;
  go: () => void;
}

// What is found and has no ref that people know is called by its kind.
const found: Record<string, string> = { messages: "Message", questions: "Question", statuses: "Agent said", contracts: "Contract" };

const tabs: [string, string][] = [
  ["profile", "Profile and password"],
  ["members", "Members and invites"],
  ["tokens", "Tokens"],
  ["policies", "Policies"],
  ["webhooks", "Webhooks"],
  ["slack", "Slack"],
  ["mail", "Mail"],
  ["digest", "Digest"],
  ["github", "GitHub"],
  ["billing", "Billing and usage"],
  ["audit", "Audit log"],
];

export function Palette({ opened, close }: PaletteState) {
  return (
    <Modal.Root opened={opened} onClose={close} padding={0} size="lg" yOffset="12vh" centered={false}>
      <Modal.Overlay backgroundOpacity={0.45} blur={2} />
      <Modal.Content aria-label="Search or go to" radius="lg">
        <Modal.Body>{opened && <PaletteBody close={close} />}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function PaletteBody({ close }: { close: () => void }) {
  const [, navigate] = useLocation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [q, setQ] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [asked] = useDebouncedValue(q.trim(), 180);
  const hits = useGet("search", "GET /v1/search", { query: { q: asked, limit: 8 } }, { enabled: asked.length >= 2 });
  const answers = asked === q.trim() && !hits.isPlaceholderData; // Enter opens nothing that another word found

  const [intents, repos, members] = [useLiveIntents().data, useRepos().data?.items, useMembers().data?.items];

  const choices = useMemo<Choice[]>(() => {
    const to = (path: string) => () => {
      navigate(path);
      close();
    };
    const needle = q.trim().toLowerCase();
    const out: Choice[] = [];
    const ref = /^(int|cf)-?(\d+)$/i.exec(needle);
    if (ref) {
      const name = `${ref[1]!.toUpperCase()}-${ref[2]}`;
      out.push({ id: name, label: `Open ${name}`, hint: "", icon: IconHash, go: to((name.startsWith("CF") ? "/conflicts/" : "/intents/") + name) });
    }
    const fixed: Choice[] = [
      ...nav.map((n) => ({ id: n.href, label: n.label, hint: `g ${n.key}`, icon: n.icon, go: to(n.href) })),
      ...tabs.map(([slug, label]) => ({ id: slug, label, hint: "Settings", icon: IconArrowRight, go: to(`/settings/${slug}`) })),
      { id: "invite", label: "Invite a teammate", hint: "Action", icon: IconUserPlus, go: to("/settings/members?invite=1") },
      { id: "device", label: "Approve a device", hint: "Action", icon: IconTerminal2, go: to("/device") },
      { id: "scheme", label: "Switch between light and dark", hint: "Action", icon: IconMoon, go: () => (setColorScheme(colorScheme === "dark" ? "light" : "dark"), close()) },
    ];
    out.push(...fixed.filter((c) => !needle || c.label.toLowerCase().includes(needle)));
    if (needle.length >= 2) {
      const has = (...texts: (string | null)[]) => texts.some((t) => t?.toLowerCase().includes(needle));
      const work = (intents ?? []).filter((i) => has(i.title, i.branch, i.ref)).slice(0, 5);
      for (const i of work) out.push({ id: i.ref, label: i.title, hint: `${i.ref} · ${i.owner.name}`, icon: IconTargetArrow, go: to(`/intents/${i.ref}`) });
      for (const r of (repos ?? []).filter((r) => has(r.full_name)).slice(0, 3)) out.push({ id: r.id, label: r.full_name, hint: "Repo", icon: IconFolder, go: to(`/repos/${r.full_name}`) });
      for (const m of (members ?? []).filter((m) => has(m.name, m.email)).slice(0, 3)) out.push({ id: m.id, label: m.name, hint: "Person", icon: IconUser, go: to(`/people/${m.id}`) });
      for (const h of (answers && hits.data?.items) || [])
        if (!work.some((i) => i.ref === h.ref))
          out.push({ id: h.kind + h.id, label: h.title, hint: [/^(INT|CF)-/.test(h.ref) ? h.ref : found[h.kind], h.repo?.full_name].filter(Boolean).join(" · "), icon: IconSearch, go: to(pathOfHit(h)) });
      out.push({ id: "all", label: `Search history for “${q.trim()}”`, hint: "", icon: IconSearch, go: to(`/history?q=${encodeURIComponent(q.trim())}`) });
    }
    return out;
  }, [q, answers, hits.data, intents, repos, members, navigate, close, colorScheme, setColorScheme]);

  useEffect(() => setAt(0), [q]);
  useEffect(() => {
    // In braces: newer browsers answer with a promise, which is no clean-up.
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at]);

  return (
    <div
      onKeyDown={(e) => {
        if (e.key === "ArrowDown") setAt((i) => Math.min(i + 1, choices.length - 1));
        else if (e.key === "ArrowUp") setAt((i) => Math.max(i - 1, 0));
        else if (e.key === "Enter") choices[at]?.go();
        else return;
        e.preventDefault();
      }}
    >
      <div className="palette-input">
        <IconSearch size={17} aria-hidden />
        <input
          autoFocus
          data-autofocus
          role="combobox"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={choices[at] ? `${id}-${at}` : undefined}
          aria-label="Search or go to"
          placeholder="Go to a page, INT-7, CF-3, or search everything"
          value={q}
          maxLength={500}
          onChange={(e) => setQ(e.target.value)}
        />
      </div>
      <div role="listbox" id={id} aria-label="Results" className="palette-list" ref={list}>
        {choices.map((c, i) => (
          <div key={c.id} id={`${id}-${i}`} role="option" aria-selected={i === at} className={i === at ? "palette-item palette-here" : "palette-item"} onMouseMove={() => setAt(i)} onClick={c.go}>
            <c.icon size={16} stroke={1.7} aria-hidden />
            <span className="grow clip">{c.label}</span>
            <span className="menu-hint">{c.hint}</span>
            {i === at && <IconCornerDownLeft size={14} aria-hidden />}
          </div>
        ))}
        {choices.length === 0 && <div className="palette-none">Nothing by that name.</div>}
      </div>
    </div>
  );
}
