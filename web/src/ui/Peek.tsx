// A record beside the list that it was found in: what its page shows, without
// leaving the list. j and k go on to the next row.
import "../styles/peek.css";
import { Drawer } from "@mantine/core";
import { Suspense, useCallback, type KeyboardEvent } from "react";
import { Route, Router, useLocation, type BaseLocationHook } from "wouter";
import { later } from "../lib/lazy";
import { addressOf, choose, peek, rowsHere } from "../lib/rows";
import { Inside, Loading } from "./page";

const ConflictDetail = later(() => import("../pages/conflicts/ConflictDetail"), "ConflictDetail");
const IntentDetail = later(() => import("../pages/intents/IntentDetail"), "IntentDetail");
const AgentPage = later(() => import("../pages/agents/AgentPage"), "AgentPage");

export function Peek({ at }: { at: string }) {
  const [, navigate] = useLocation();
  const close = useCallback(() => {
    peek(null);
    requestAnimationFrame(() => rowsHere().find((row) => addressOf(row) === at)?.focus());
  }, [at]);
  // Links lead to pages, not to another drawer.
  const away = useCallback(
    (to: string) => {
      peek(null);
      navigate(to);
    },
    [navigate],
  );
  const onKeyDown = (e: KeyboardEvent<HTMLElement>) => {
    // Keys of a dialog that was opened from here come by, too.
    if (!e.currentTarget.contains(e.target as Node) || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test((e.target as Element).tagName)) return;
    const all = rowsHere();
    const by = e.key === "j" ? 1 : e.key === "k" ? -1 : 0;
    const next = by && all[all.findIndex((row) => addressOf(row) === at) + by];
    if (e.key === "Escape") close();
    else if (e.key === "x") choose(at);
    else if (next) {
      next.scrollIntoView({ block: "nearest" });
      peek(addressOf(next));
    } else return;
    e.preventDefault();
  };
  const here: BaseLocationHook = () => [at, away];
  return (
    <Drawer.Root opened onClose={close} position="right" size="min(760px, 94vw)" closeOnEscape={false} transitionProps={{ duration: 0 }}>
      <Drawer.Overlay backgroundOpacity={0.25} />
      <Drawer.Content aria-label="Peek">
        <div className="peek" onKeyDown={onKeyDown}>
          <div className="peek-bar">
            <span className="dim grow">
              <kbd>j</kbd> <kbd>k</kbd> next and previous
            </span>
            <button type="button" className="peek-open" onClick={() => away(at)}>
              Open the page
            </button>
            <Drawer.CloseButton aria-label="Close" />
          </div>
          <Router hook={here} searchHook={() => ""}>
            <Inside.Provider value>
              <Suspense key={at} fallback={<Loading />}>
                <Route path="/conflicts/:ref" component={ConflictDetail} />
                <Route path="/intents/:ref" component={IntentDetail} />
                <Route path="/agents/:id" component={AgentPage} />
              </Suspense>
            </Inside.Provider>
          </Router>
        </div>
      </Drawer.Content>
    </Drawer.Root>
  );
}
