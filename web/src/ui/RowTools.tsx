import type { ReactNode } from "react";
import { Link } from "wouter";
import { choose, peek, useIsChosen } from "../lib/rows";
import { IconEye, IconSquare, IconSquareCheck } from "./icons.gen";

/** What a row offers beside leading somewhere: being chosen, and being looked into. Keys do both on the row itself, so that Tab goes from row to row. */
export function RowTools({ href, name }: { href: string; name: string }) {
  const chosen = useIsChosen(href);
  return (
    <span className="row-tools" data-chosen={chosen || undefined}>
      <button type="button" tabIndex={-1} className="icon-button" role="checkbox" aria-checked={chosen} aria-label={`Choose ${name}`} title="Choose (x)" onClick={() => choose(href)}>
        {chosen ? <IconSquareCheck size={14} /> : <IconSquare size={14} />}
      </button>
      <button type="button" tabIndex={-1} className="icon-button" aria-label={`Peek at ${name}`} title="Peek (Space)" onClick={() => peek(href)}>
        <IconEye size={14} />
      </button>
    </span>
  );
}

/** A row of a list of work: it leads to a page, and can be chosen and looked into. */
export const WorkRow = ({ href, name, children }: { href: string; name: string; children: ReactNode }) => (
  <div className="tooled">
    <Link href={href} className="work-row" data-row>
      {children}
    </Link>
    <RowTools href={href} name={name} />
  </div>
);
