// What every page has: a head, and the three states of data that is not there.
import { Button, Loader } from "@mantine/core";
import { IconCloudOff, IconLock, IconMoodEmpty } from "./icons.gen";
import type { UseQueryResult } from "@tanstack/react-query";
import { Component, createContext, useContext, useEffect, useRef, useState, type ReactNode } from "react";
import { Problem } from "../api/client";
import { ChunkError } from "../lib/lazy";
import { nameTab } from "../lib/tab";

/** Whether a page is shown inside another, beside the list that it was found in. */
export const Inside = createContext(false);

export function Page({ title, sub, actions, children, wide = false, tight = false, written = false }: { title: string; sub?: ReactNode; actions?: ReactNode; children: ReactNode; wide?: boolean; tight?: boolean; written?: boolean /* somebody wrote the title, in whatever direction */ }) {
  const inside = useContext(Inside);
  useEffect(() => (inside ? undefined : nameTab(title)), [inside, title]);
  const Main = inside ? "div" : "main";
  const Heading = inside ? "h2" : "h1";
  return (
    <Main className={`page${wide ? " page-wide" : ""}${tight ? " page-tight" : ""}`} id={inside ? undefined : "main"} tabIndex={-1}>
      <header className="page-head">
        <div className="grow">
          <Heading className={inside ? "peek-title" : undefined}>{written ? <bdi>{title}</bdi> : title}</Heading>
          {sub && <div className="page-sub">{sub}</div>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </Main>
  );
}

export function Section({ id, title, sub, actions, children, pad = true, busy }: { id?: string; title?: string; sub?: ReactNode; actions?: ReactNode; children: ReactNode; pad?: boolean; busy?: boolean /* what is shown answers the question before */ }) {
  return (
    <section className="card" id={id} aria-busy={busy}>
      {(title || actions) && (
        <div className="card-head">
          <div className="grow">
            {title && <h2>{title}</h2>}
            {sub && <div className="card-sub">{sub}</div>}
          </div>
          {actions && <div className="card-actions">{actions}</div>}
        </div>
      )}
      <div className={pad ? "card-body" : "card-flush"}>{children}</div>
    </section>
  );
}

export function Empty({ icon, title, children }: { icon?: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <div className="empty-icon" aria-hidden>
        {icon ?? <IconMoodEmpty size={22} stroke={1.5} />}
      </div>
      <h3>{title}</h3>
      {children && <div className="empty-text">{children}</div>}
    </div>
  );
}

/** Whether the trouble is on the way to the server, not in what was asked. */
const isDown = (p: Problem | null): boolean => p !== null && (p.status === 0 || p.status === 502 || p.status === 503 || p.status === 504);
const tryEvery = 3000; // ms

export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const p = error instanceof Problem ? error : null;
  const down = isDown(p);
  const again = useRef(retry);
  again.current = retry;
  useEffect(() => {
    if (!down) return;
    const timer = setInterval(() => again.current?.(), tryEvery);
    return () => clearInterval(timer);
  }, [down]);
  const icon = p?.status === 403 ? <IconLock size={22} stroke={1.5} /> : <IconCloudOff size={22} stroke={1.5} />;
  const title = down ? "The server cannot be reached" : p?.status === 404 ? "There is nothing here" : p?.status === 403 ? "This is not for your role" : "That did not load";
  const text = down ? "It may be restarting, or the network is gone. This page tries again by itself; what you typed is kept." : error instanceof Error ? error.message : "Something went wrong.";
  return (
    <div className="empty" role="alert">
      <div className="empty-icon" aria-hidden>
        {icon}
      </div>
      <h3>{title}</h3>
      <div className="empty-text">{text}</div>
      {retry && p?.status !== 403 && p?.status !== 404 && (
        <Button variant="default" mt="sm" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export const Loading = () => (
  <div className="loading" role="status" aria-label="Loading">
    <Loader size="sm" type="dots" />
  </div>
);

/** Shows what a query holds; keeps showing it while it loads again. */
export function Load<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  return <Loading />;
}

/** The rows of a list, or what to do while there are none. */
export function Rows<T>({ query, none, children }: { query: UseQueryResult<{ items: T[] }>; none: ReactNode; children: (item: T) => ReactNode }) {
  return <Load query={query}>{(page) => (page.items.length === 0 ? none : <ul className="rows">{page.items.map(children)}</ul>)}</Load>;
}

const reloadedKey = "svc-reloaded";
const reloadGuard = 30_000; // ms between two reloads that nobody asked for

/** A part of the dashboard did not come: the server was upgraded and has other files, or it is down.
 * As soon as it answers, the page is loaded anew, which brings the files of today. */
function PartMissing() {
  const [down, setDown] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      const there = await fetch("/healthz", { cache: "no-store" }).then((r) => r.ok, () => false);
      setDown(!there);
      const last = Number(sessionStorage.getItem(reloadedKey) ?? 0);
      if (there && Date.now() - last > reloadGuard) {
        sessionStorage.setItem(reloadedKey, String(Date.now()));
        location.reload();
      } else timer = setTimeout(() => void look(), tryEvery);
    };
    void look();
    return () => clearTimeout(timer);
  }, []);
  return <Failed error={down ? new Problem(0, "offline", "") : new Error("A part of this page did not load. It reloads in a moment; what you typed is kept.")} retry={() => location.reload()} />;
}

/** Catches what a page throws while it draws, so that the rest stays usable. */
export class Boundary extends Component<{ children: ReactNode; name: string }, { error: unknown }> {
  override state: { error: unknown } = { error: null };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override componentDidUpdate(before: { name: string }) {
    if (before.name !== this.props.name && this.state.error) this.setState({ error: null });
  }
  override render() {
    if (this.state.error) {
      return (
        <main className="page" id="main">
          {this.state.error instanceof ChunkError ? <PartMissing /> : <Failed error={new Error("This page hit a bug. The rest of the dashboard still works.")} retry={() => this.setState({ error: null })} />}
        </main>
      );
    }
    return this.props.children;
  }
}
