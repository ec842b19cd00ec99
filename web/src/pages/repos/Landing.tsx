// In which order the live work of a repo lands, and what another order would
// cost: rows are moved by drag or by their buttons, and the server prices it.
import "../../styles/sides.css";
import { Button } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "../../ui/icons.gen";
import { useState, type DragEvent } from "react";
import { Link } from "wouter";
import type { LandingStep } from "../../api/records";
import { outsideName } from "../../lib/conflict";
import { useGet } from "../../lib/queries";
import { plural, titleOf } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Avatar } from "../../ui/bits";
import { Inline } from "../../ui/Markdown";
import { Section } from "../../ui/page";

const few = 8; // those that collide come first

const refOf = (s: LandingStep): string => s.intent?.ref ?? "";

/** The steps as they were asked for; what nobody named stays behind. */
function inOrder(steps: LandingStep[], wanted: string): LandingStep[] {
  const refs = wanted.split(",");
  const place = (s: LandingStep) => (refs.includes(refOf(s)) ? refs.indexOf(refOf(s)) : refs.length);
  return [...steps].sort((a, b) => place(a) - place(b));
}

function priceOf(p: { lines_redone: number; breaks: number }): string {
  const parts = [p.lines_redone > 0 && `${plural(p.lines_redone, "line")} written again`, p.breaks > 0 && plural(p.breaks, "break") + " in other repos"].filter(Boolean);
  return parts.length ? parts.join(", ") : "nothing is redone";
}

export function Landing({ repo }: { repo: string }) {
  const [wanted, setWanted] = useFilter("if");
  const landing = useGet("intents", "GET /v1/repos/{repo}/landing", { path: { repo }, query: wanted ? { if: wanted } : {} });
  const [dragged, setDragged] = useState<number | null>(null);
  const [all, setAll] = useState(false);
  if (!landing.data || landing.data.steps.length < 2) return null;
  const counting = landing.isPlaceholderData; // what is there answers the order of before
  const steps = counting ? inOrder(landing.data.steps, wanted) : landing.data.steps;
  const move = (from: number, to: number) => {
    if (from === to || to < 0 || to >= steps.length) return;
    const refs = steps.map(refOf);
    refs.splice(to, 0, ...refs.splice(from, 1));
    setWanted(refs.filter(Boolean).join(","));
  };
  const { best } = landing.data;
  return (
    <Section
      title="Landing order"
      sub={
        <span role="status">
          {counting ? "Counting what this order costs…" : wanted ? `Your order: ${priceOf(landing.data)}; the cheapest: ${priceOf(best)}.` : `The order that costs least: ${priceOf(landing.data)}. Move a row to see what another would cost.`}
        </span>
      }
      actions={
        wanted && (
          <Button size="xs" variant="default" onClick={() => setWanted(null)}>
            The cheapest again
          </Button>
        )
      }
      pad={false}
    >
      <ol className="rows" aria-label="Landing order">
        {(all ? steps : steps.slice(0, few)).map((s, i) => (
          <li key={refOf(s) || (s.outside?.url ?? i)} className="row-item landing-step" draggable={refOf(s) !== ""} onDragStart={() => setDragged(i)} onDragOver={(e: DragEvent) => e.preventDefault()} onDrop={() => (dragged !== null && move(dragged, i), setDragged(null))}>
            <b className="landing-place">{counting ? i + 1 : s.place}</b>
            <Avatar user={s.user} size={22} />
            <span className="grow">
              {s.intent ? (
                <Link href={`/intents/${s.intent.ref}`} dir="auto">
                  {titleOf({ ...s.intent, branch: s.branch })}
                </Link>
              ) : s.outside ? (
                <>
                  <a href={s.outside.url} target="_blank" rel="noreferrer" dir="auto">
                    {outsideName(s.outside)} {s.branch}
                  </a>{" "}
                  <span className="dim">by {s.outside.author}, without svc</span>
                </>
              ) : (
                <span dir="auto">{s.user?.name ?? s.branch}</span>
              )}{" "}
              {s.intent && <span className="ref">{s.intent.ref}</span>} {s.repo.full_name !== repo && <span className="dim">in {s.repo.full_name}</span>}
              <br />
              <span className="dim">
                <Inline text={s.reason} />
              </span>
            </span>
            {(s.lines_redone > 0 || s.breaks > 0) && <span className="tone-warn nowrap">{priceOf(s)}</span>}
            {refOf(s) && (
              <>
                <button type="button" className="icon-button" disabled={i === 0} aria-label={`${refOf(s)} earlier`} onClick={() => move(i, i - 1)}>
                  <IconArrowUp size={14} />
                </button>
                <button type="button" className="icon-button" disabled={i === steps.length - 1} aria-label={`${refOf(s)} later`} onClick={() => move(i, i + 1)}>
                  <IconArrowDown size={14} />
                </button>
              </>
            )}
          </li>
        ))}
      </ol>
      {!all && steps.length > few && (
        <div className="more">
          <Button variant="default" onClick={() => setAll(true)}>
            Show all {steps.length}
          </Button>
        </div>
      )}
    </Section>
  );
}
