// Who is signed in, and in which of their orgs they act.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, Suspense, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { Redirect, useLocation, useSearch } from "wouter";
import { call, Problem, setOrg, whenProofNeeded, whenSignedOut } from "../api/client";
import type { OrgPlace, Role, User } from "../api/records";
import { forgetDrafts } from "./draft";
import { later } from "./lazy";
import { Failed, Loading } from "../ui/page";

const Prove = later(() => import("../ui/Prove"), "Prove");
const Gate = later(() => import("../pages/entry/Gate"), "Gate");

export interface Me {
  user: User;
  org: OrgPlace;
  orgs: OrgPlace[];
  mayMakeOrgs: boolean;
  isAdmin: boolean;
  switchOrg: (slug: string) => void;
  signOut: () => Promise<void>;
}

const Context = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(Context);
  if (!me) throw new Error("useMe outside of a session");
  return me;
}

export const isAdmin = (role: Role): boolean => role === "owner" || role === "admin";

const orgKey = "svc-org";

function remembered(): string {
  try {
    return localStorage.getItem(orgKey) ?? "";
  } catch {
    return "";
  }
}

function remember(slug: string): void {
  try {
    localStorage.setItem(orgKey, slug);
  } catch {
    // Without storage the first org is chosen again next time.
  }
}

/** Goes on in another org of the person's. */
export function switchOrg(slug: string): void {
  remember(slug);
  location.assign("/");
}

/** Where to sign in, coming back here afterwards. */
export function signInPath(): string {
  const here = location.pathname + location.search + location.hash;
  return here === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(here)}`;
}

/** Only paths of our own: a link must not send people elsewhere. */
export function safeNext(next: string | null): string {
  return next && /^\/(?![/\\])/.test(next) ? next : "/";
}

export function SessionProvider({ children }: { children: ReactNode }) {
  const [, navigate] = useLocation();
  const search = useSearch();
  const client = useQueryClient();
  const session = useQuery({ queryKey: ["session"], queryFn: () => call("GET /v1/auth/session"), retry: (n, e) => !(e instanceof Problem && e.status === 401) && n < 3, staleTime: 60_000 });

  const [asked, setAsked] = useState<{ yes: () => void; no: () => void } | null>(null);
  useEffect(() => whenProofNeeded(() => new Promise((yes, no) => setAsked({ yes, no }))), []);
  useEffect(() => whenSignedOut(() => void client.invalidateQueries({ queryKey: ["session"] })), [client]);

  const signedOut = session.error instanceof Problem && session.error.status === 401;
  useEffect(() => {
    if (signedOut) navigate(signInPath(), { replace: true });
  }, [signedOut, navigate]);

  const orgs = session.data?.orgs;
  const wanted = new URLSearchParams(search).get("org") ?? remembered();
  const org = orgs?.find((o) => o.slug === wanted) ?? orgs?.[0];
  if (org) setOrg(org.slug);
  const user = session.data?.user;
  const mayMakeOrgs = session.data?.may_make_orgs ?? false;
  const me = useMemo<Me | null>(() => {
    if (!org || !user || !orgs) return null;
    return {
      user,
      org,
      orgs,
      mayMakeOrgs,
      isAdmin: isAdmin(org.role),
      switchOrg,
      signOut: async () => {
        await call("POST /v1/auth/sign-out");
        forgetDrafts();
        client.clear();
        location.assign("/sign-in?out=1");
      },
    };
  }, [org, user, orgs, mayMakeOrgs, client]);

  const [gate, setGate] = useState(false); // until it says that all is seen
  if (org?.lacks && !gate) setGate(true);
  const through = useCallback(() => setGate(false), []);

  if (signedOut) return null;
  if (session.isError && !session.data) return <Failed error={session.error} retry={() => void session.refetch()} />;
  if (!session.data) return <Loading />;
  if (!me && mayMakeOrgs) return <Redirect to="/new-org" replace />;
  if (!me) return <Failed error={new Error("You are signed in but belong to no org. Ask a teammate for an invite.")} />;
  return (
    <Context value={me}>
      {gate ? (
        <Suspense fallback={<Loading />}>
          <Gate org={me.org} others={me.orgs.filter((o) => o !== me.org)} switchOrg={me.switchOrg} signOut={me.signOut} onThrough={through} />
        </Suspense>
      ) : (
        children
      )}
      <Suspense>
        {asked && (
          <Prove
            onDone={(proved) => {
              setAsked(null);
              (proved ? asked.yes : asked.no)();
            }}
          />
        )}
      </Suspense>
    </Context>
  );
}
