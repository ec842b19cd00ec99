import { IconFolder, IconGitBranch, IconLock } from "../../ui/icons.gen";
import type { Intent } from "../../api/records";
import { plural, titleOf } from "../../lib/text";
import { Ago, Avatar, IntentPill } from "../../ui/bits";
import { WorkRow } from "../../ui/RowTools";

export function IntentRow({ intent: i }: { intent: Intent }) {
  const scope = [
    i.scope.paths.length && plural(i.scope.paths.length, "path"),
    i.scope.symbols.length && plural(i.scope.symbols.length, "symbol"),
    i.scope.contracts.length && plural(i.scope.contracts.length, "contract"),
  ].filter(Boolean);
  return (
    <WorkRow href={`/intents/${i.ref}`} name={i.ref}>
      <Avatar user={i.owner} size={26} />
      <span className="work-main">
        <span className="work-title">
          <b dir="auto">{titleOf(i)}</b>
          <span className="ref">{i.ref}</span>
        </span>
        <span className="work-meta">
          <span>{i.owner.name}</span>
          <span>
            <IconFolder size={13} aria-hidden /> {i.repo.full_name}
          </span>
          {i.branch && (
            <span className="clip">
              <IconGitBranch size={13} aria-hidden /> {i.branch}
            </span>
          )}
          {scope.length > 0 && <span className="wide-only">{scope.join(", ")}</span>}
          {i.effective_mode === "exclusive" && (
            <span className="tone-warn">
              <IconLock size={13} aria-hidden /> exclusive
            </span>
          )}
          {i.blocked_by.length > 0 && <span className="tone-block">waits for {i.blocked_by.map((b) => b.ref).join(", ")}</span>}
        </span>
      </span>
      <span className="work-side">
        <IntentPill status={i.status} />
        <span className="dim">
          <Ago at={i.last_activity_at} />
        </span>
      </span>
    </WorkRow>
  );
}
