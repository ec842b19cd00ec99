// Everybody's agents with what is known of each, for the pages that show them.
import { useCallback, useMemo } from "react";
import type { Conflict, Intent } from "../api/records";
import { agentsOf, type Agent } from "./agents";
import { useLiveConflicts, useLiveIntents, useLiveSessions } from "./queries";

const noIntents: Intent[] = [];
const noConflicts: Conflict[] = [];

export interface Team {
  agents: Agent[] | undefined;
  intents: Intent[];
  conflicts: Conflict[];
  error: unknown;
  refetch: () => void;
}

export function useTeam(): Team {
  const [sessions, intents, conflicts] = [useLiveSessions(), useLiveIntents(), useLiveConflicts()];
  const agents = useMemo(() => (sessions.data && intents.data && conflicts.data ? agentsOf(sessions.data, intents.data, conflicts.data) : undefined), [sessions.data, intents.data, conflicts.data]);
  const broken = [sessions, intents, conflicts].find((q) => q.isError && q.data === undefined);
  const [a, b, c] = [sessions.refetch, intents.refetch, conflicts.refetch];
  const refetch = useCallback(() => void Promise.all([a(), b(), c()]), [a, b, c]);
  return { agents, intents: intents.data ?? noIntents, conflicts: conflicts.data ?? noConflicts, error: broken?.error, refetch };
}
