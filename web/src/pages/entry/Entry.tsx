// The frame of the pages that people see before they are in.
import "../../styles/entry.css";
import { useEffect, type ComponentType, type ReactNode } from "react";
import { useLocationProperty } from "wouter/use-browser-location";

export function Entry({ title, sub, children, foot }: { title: string; sub?: ReactNode; children: ReactNode; foot?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  return (
    <main className="entry" id="main">
      <div className="entry-card">
        <div className="entry-brand">
          <img src="/icon.svg" alt="" width={30} height={30} />
          <span>svc</span>
        </div>
        <h1>{title}</h1>
        {sub && <p className="dim">{sub}</p>}
        {children}
      </div>
      {foot && <p className="entry-foot dim">{foot}</p>}
    </main>
  );
}

/** The secret part of a link, which browsers never send to a server. */
export const hashCode = (): string => decodeURIComponent(location.hash.slice(1));

/** A page of the secret part of its link. Another link where it is open changes that part alone, and no browser loads it again: it begins anew. */
export function ofLink(Shown: ComponentType<{ code: string }>) {
  return function OfLink() {
    const code = useLocationProperty(hashCode);
    return <Shown key={code} code={code} />;
  };
}
