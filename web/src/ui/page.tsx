// What every page has: a head, and the three states of data that is not there.
import { Button, Loader } from "@mantine/core";
import { IconCloudOff, IconLock, IconMoodEmpty } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import { Component, useEffect, type ReactNode } from "react";
import { Problem } from "../api/client";

export function Page({ title, sub, actions, children, wide = false }: { title: string; sub?: ReactNode; actions?: ReactNode; children: ReactNode; wide?: boolean }) {
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  return (
    <main className={wide ? "page page-wide" : "page"} id="main" tabIndex={-1}>
      <header className="page-head">
        <div className="grow">
          <h1>{title}</h1>
          {sub && <div className="page-sub">{sub}</div>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

export function Section({ title, sub, actions, children, pad = true }: { title?: string; sub?: ReactNode; actions?: ReactNode; children: ReactNode; pad?: boolean }) {
  return (
    <section className="card">
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

export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const p = error instanceof Problem ? error : null;
  const icon = p?.status === 403 ? <IconLock size={22} stroke={1.5} /> : <IconCloudOff size={22} stroke={1.5} />;
  const title = p?.status === 404 ? "There is nothing here" : p?.status === 403 ? "This is not for your role" : "That did not load";
  return (
    <div className="empty" role="alert">
      <div className="empty-icon" aria-hidden>
        {icon}
      </div>
      <h3>{title}</h3>
      <div className="empty-text">{error instanceof Error ? error.message : "Something went wrong."}</div>
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
          <Failed error={new Error("This page hit a bug. The rest of the dashboard still works.")} retry={() => this.setState({ error: null })} />
        </main>
      );
    }
    return this.props.children;
  }
}
