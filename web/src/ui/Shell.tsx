// The frame around every page: navigation, org, connection, palette.
import { Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBell, IconCheck, IconChevronDown, IconDots, IconKeyboard, IconLogout, IconMoon, IconPlus, IconSearch, IconSettings, IconSun, IconUserPlus } from "./icons.gen";
import { Suspense, useCallback, useEffect, type ReactNode } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { later } from "../lib/lazy";
import { useLive } from "../lib/live";
import { useNotices, useNoticesOf } from "../lib/notify";
import { countOf } from "../lib/conflict";
import { useAttention, useLiveConflicts } from "../lib/queries";
import { chooseNone, peek, rowKey, useRows } from "../lib/rows";
import { countInTab } from "../lib/tab";
import { useMe } from "../lib/session";
import { exact } from "../lib/text";
import { pathOf } from "../lib/url";
import { hasViews } from "../lib/views";
import { Avatar } from "./bits";
import { nav } from "./nav";
import { usePalette } from "./paletteState";

const Keys = later(() => import("./Keys"), "Keys");
const Palette = later(() => import("./Palette"), "Palette");
const Views = later(() => import("./Views"), "Views");
const Peek = later(() => import("./Peek"), "Peek");
const Chosen = later(() => import("./Chosen"), "Chosen");
const More = later(() => import("./More"), "More");

const isHere = (path: string, href: string): boolean => (href === "/" ? path === "/" : path === href || path.startsWith(href + "/"));

/** What the navigation counts. Conflicts are counted as every page counts them. */
function useCounts(): Record<string, number> {
  const attention = useAttention();
  const conflicts = useLiveConflicts();
  const by = attention.data?.by_kind ?? {};
  return {
    "/": attention.data?.total ?? 0,
    "/conflicts": conflicts.data ? countOf(conflicts.data) : 0,
    "/messages": (by.message ?? 0) + (by.ack ?? 0) + (by.question ?? 0), // the same that "Needs you" lists
  };
}

const countMeans: Record<string, string> = { "/": "need you", "/conflicts": "conflicts", "/messages": "messages for you" };

function NavLinks({ onGo }: { onGo?: () => void }) {
  const [path] = useLocation();
  const counts = useCounts();
  return (
    <nav aria-label="Main" className="nav">
      {nav.map((item) => {
        const count = counts[item.href] ?? 0;
        return (
          <Link key={item.href} href={item.href} onClick={onGo} className={isHere(path, item.href) ? "nav-item nav-here" : "nav-item"} aria-current={isHere(path, item.href) ? "page" : undefined}>
            <item.icon size={17} stroke={1.7} aria-hidden />
            <span className="grow">{item.label}</span>
            {count > 0 && (
              <span className="nav-count" aria-label={`${count} ${countMeans[item.href] ?? ""}`}>
                {count > 99 ? "99+" : count}
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}

const connection = {
  connecting: { tone: "quiet", label: "Connecting", help: "Connecting to the live stream." },
  live: { tone: "good", label: "Live", help: "Connected: this page updates by itself." },
  stale: { tone: "warn", label: "Reconnecting", help: "The live stream is down. What you see may be out of date." },
  offline: { tone: "block", label: "Offline", help: "No network. What you see may be out of date." },
} as const;

export function Connection() {
  const { state, since } = useLive();
  const c = connection[state];
  return (
    <div className={`connection tone-${c.tone}`} role="status" title={`${c.help} Since ${exact(new Date(since).toISOString())}`} data-state={state}>
      <span className="connection-dot" aria-hidden />
      {c.label}
    </div>
  );
}

/** Says that what is on the screen may be old, once it is more than a blink. */
function StaleBanner() {
  const { state, since } = useLive();
  if (state !== "stale" && state !== "offline") return null;
  return (
    <div className="stale-banner" role="alert">
      Not live since {new Date(since).toLocaleTimeString()}. What you see may be out of date; reconnecting by itself.
    </div>
  );
}

function OrgMenu() {
  const me = useMe();
  return (
    <Menu position="bottom-start" width={230}>
      <Menu.Target>
        <UnstyledButton className="org-button" aria-label={`Org ${me.org.name}, menu`}>
          <span className="logo" aria-hidden>
            <img src="/icon.svg" alt="" width={22} height={22} />
          </span>
          <span className="clip grow">{me.org.name}</span>
          <IconChevronDown size={14} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Your orgs</Menu.Label>
        {me.orgs.map((o) => (
          <Menu.Item key={o.id} onClick={() => me.switchOrg(o.slug)} rightSection={o.id === me.org.id ? <IconCheck size={14} /> : null}>
            {o.name}
            <span className="menu-hint">{o.role}</span>
          </Menu.Item>
        ))}
        {me.isAdmin && (
          <Menu.Item component={Link} href="/settings/members?invite=1" leftSection={<IconUserPlus size={15} />}>
            Invite a teammate
          </Menu.Item>
        )}
        {me.mayMakeOrgs && (
          <Menu.Item component={Link} href="/new-org" leftSection={<IconPlus size={15} />}>
            Make another org
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function UserMenu() {
  const me = useMe();
  const notices = useNotices();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="top-start" width={230}>
      <Menu.Target>
        <UnstyledButton className="user-button" aria-label={`${me.user.name}, account menu`}>
          <Avatar user={me.user} size={24} />
          <span className="clip grow">{me.user.name}</span>
          <IconDots size={15} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{me.user.email}</Menu.Label>
        <Menu.Item component={Link} href="/settings/profile" leftSection={<IconSettings size={15} />}>
          Profile
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconSun size={15} />} rightSection={colorScheme === "light" ? <IconCheck size={13} /> : null} onClick={() => setColorScheme("light")}>
          Light
        </Menu.Item>
        <Menu.Item leftSection={<IconMoon size={15} />} rightSection={colorScheme === "dark" ? <IconCheck size={13} /> : null} onClick={() => setColorScheme("dark")}>
          Dark
        </Menu.Item>
        <Menu.Item leftSection={<span className="half" aria-hidden />} rightSection={colorScheme === "auto" ? <IconCheck size={13} /> : null} onClick={() => setColorScheme("auto")}>
          As the system
        </Menu.Item>
        {notices.possible && (
          <Menu.Item leftSection={<IconBell size={15} />} rightSection={notices.on ? <IconCheck size={13} /> : null} onClick={() => void notices.toggle()}>
            {notices.on ? "Stop notifying me" : "Notify me of what needs me"}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => void me.signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Puts the focus on the first row of a list that nobody is in yet; the list takes over from there. */
function enterRows(e: KeyboardEvent): boolean {
  if ((e.key !== "j" && e.key !== "k") || (document.activeElement && document.activeElement !== document.body && document.activeElement.id !== "main")) return false;
  const first = document.querySelector<HTMLElement>("main [data-row]");
  first?.focus();
  return Boolean(first);
}

/** Sends the form that somebody writes in, wherever it is. */
function sendForm(e: KeyboardEvent): void {
  const form = e.defaultPrevented ? null : (e.target as HTMLElement).closest("form");
  const button = form?.querySelector<HTMLButtonElement>('button[type="submit"]');
  if (!form || !button || button.disabled) return;
  e.preventDefault();
  form.requestSubmit(button);
}

/** g then a letter goes to a page; / opens the palette; ? shows the keys. */
function useShortcuts(openPalette: () => void, showKeys: () => void) {
  const [, navigate] = useLocation();
  useEffect(() => {
    let armed = -Infinity; // when g was pressed, however late we hear of it
    const onKey = (e: KeyboardEvent) => {
      const el = e.target as HTMLElement;
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        openPalette();
        return;
      }
      if ((e.ctrlKey || e.metaKey) && e.key === "Enter") return sendForm(e);
      if (e.ctrlKey || e.metaKey || e.altKey || el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName) || document.querySelector('[role="dialog"]')) return;
      if (e.key === "/") {
        e.preventDefault();
        openPalette();
      } else if (e.key === "?") {
        e.preventDefault();
        showKeys();
      } else if (rowKey(e) || enterRows(e)) {
        e.preventDefault();
      } else if (e.key === "g") armed = e.timeStamp;
      else if (e.timeStamp - armed < 1500) {
        armed = -Infinity;
        const item = nav.find((n) => n.key === e.key);
        if (item) {
          e.preventDefault();
          navigate(item.href);
        }
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, openPalette, showKeys]);
}

export function Shell({ children }: { children: ReactNode }) {
  const palette = usePalette();
  const [drawer, { open, close }] = useDisclosure(false);
  const [path] = useLocation();
  const counts = useCounts();
  const rows = useRows();
  const search = useSearch();
  const { org } = useMe();
  const [keys, { open: showKeys, close: hideKeys }] = useDisclosure(false);
  const [, navigate] = useLocation();
  const attention = useAttention();
  useShortcuts(palette.open, showKeys);
  useNoticesOf(attention.data?.items, useCallback((item) => navigate(pathOf(item.url)), [navigate]));
  const waiting = counts["/"] ?? 0;
  useEffect(() => countInTab(waiting), [waiting]);
  useEffect(() => {
    document.getElementById("main")?.scrollTo(0, 0);
    window.scrollTo(0, 0);
    peek(null);
    chooseNone();
  }, [path]);
  return (
    <div className="shell">
      <a href="#main" className="skip">
        Skip to content
      </a>
      <aside className="side">
        <OrgMenu />
        <button type="button" className="search-button" onClick={palette.open}>
          <IconSearch size={15} aria-hidden />
          <span className="grow">Search or go to</span>
          <kbd>Ctrl K</kbd>
        </button>
        <NavLinks />
        {(search || hasViews(org.slug)) && (
          <Suspense fallback={null}>
            <Views />
          </Suspense>
        )}
        <div className="grow" />
        <div className="side-foot">
          <Connection />
          <button type="button" className="icon-button wide-only" onClick={showKeys} aria-label="Keys" title="Keys (?)">
            <IconKeyboard size={16} />
          </button>
        </div>
        <UserMenu />
      </aside>
      <div className="top">
        <OrgMenu />
        <div className="grow" />
        <Connection />
        <button type="button" className="icon-button" onClick={palette.open} aria-label="Search or go to">
          <IconSearch size={18} />
        </button>
      </div>
      <div className="content">
        <StaleBanner />
        {children}
      </div>
      <nav className="tabs" aria-label="Main, short">
        {nav.slice(0, 4).map((item) => (
          <Link key={item.href} href={item.href} className={isHere(path, item.href) ? "tab tab-here" : "tab"} aria-current={isHere(path, item.href) ? "page" : undefined}>
            <span className="tab-icon">
              <item.icon size={20} stroke={1.6} aria-hidden />
              {(counts[item.href] ?? 0) > 0 && <span className="tab-dot" aria-label="needs attention" role="img" />}
            </span>
            {item.label}
          </Link>
        ))}
        <button type="button" className="tab" onClick={open}>
          <span className="tab-icon">
            <IconDots size={20} stroke={1.6} aria-hidden />
          </span>
          More
        </button>
      </nav>
      <Suspense fallback={null}>
        {drawer && (
          <More onClose={close}>
            <NavLinks onGo={close} />
            <Views onGo={close} />
            <div className="drawer-user">
              <UserMenu />
            </div>
          </More>
        )}
        {palette.opened && <Palette {...palette} />}
        {rows.peeked && <Peek at={rows.peeked} />}
        {rows.chosen.length > 0 && <Chosen chosen={rows.chosen} />}
      </Suspense>
      {keys && (
        <Suspense fallback={null}>
          <Keys onClose={hideKeys} />
        </Suspense>
      )}
    </div>
  );
}
