import type { Agent } from "../../lib/agents";
import { Compose } from "./Compose";

/** A message to an agent: by its intent, which reaches its person and the agent; without one to its person. */
export function AgentMessage({ agent: a, onClose }: { agent: Agent; onClose: () => void }) {
  const ref = a.session.intent?.ref;
  return <Compose to={ref ? `intent:${ref}` : `user:${a.user.email}`} name={ref ? `${a.user.name}, ${ref}` : a.user.name} onClose={onClose} onSent={onClose} />;
}
