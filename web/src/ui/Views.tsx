// Saved views under the navigation, and the way to save the one that is shown.
import "../styles/views.css";
import { IconBookmark, IconPlus, IconX } from "./icons.gen";
import { useState, type FormEvent } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { useMe } from "../lib/session";
import { useViews } from "../lib/views";

/** Pages whose filters are worth a name. */
const lists = ["/", "/conflicts", "/intents", "/activity", "/history", "/stats"];

export function Views({ onGo }: { onGo?: () => void }) {
  const me = useMe();
  const [path] = useLocation();
  const search = useSearch();
  const { views, save, drop } = useViews(me.org.slug);
  const [name, setName] = useState<string | null>(null);
  const here = path + (search && `?${search}`);
  const canSave = lists.includes(path) && search !== "" && !views.some((v) => v.path === here);
  if (views.length === 0 && !canSave) return null;
  const keep = (e: FormEvent) => {
    e.preventDefault();
    if (name?.trim()) save({ name: name.trim(), path: here });
    setName(null);
  };
  return (
    <nav aria-label="Saved views" className="nav views">
      {views.map((v) => (
        <div key={v.path} className={v.path === here ? "nav-item nav-here view" : "nav-item view"}>
          <Link href={v.path} onClick={onGo} className="plain-link grow clip" dir="auto" aria-current={v.path === here ? "page" : undefined}>
            <IconBookmark size={15} stroke={1.7} aria-hidden /> {v.name}
          </Link>
          <button type="button" className="icon-button" aria-label={`Forget the view ${v.name}`} title="Forget this view" onClick={() => drop(v.path)}>
            <IconX size={13} />
          </button>
        </div>
      ))}
      {canSave && name === null && (
        <button type="button" className="nav-item view-save" onClick={() => setName("")}>
          <IconPlus size={15} stroke={1.7} aria-hidden /> Save this view
        </button>
      )}
      {canSave && name !== null && (
        <form onSubmit={keep} className="nav-item">
          <input autoFocus className="view-name" aria-label="Name of the view" placeholder="Name, then Enter" maxLength={40} value={name} onChange={(e) => setName(e.target.value)} onKeyDown={(e) => e.key === "Escape" && setName(null)} onBlur={() => name.trim() === "" && setName(null)} />
        </form>
      )}
    </nav>
  );
}
