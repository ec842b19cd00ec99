// A person lets a command line act for them. The code is typed, never taken
// from a link, and denying is as easy as approving.
import { Alert, Button, NativeSelect, TextInput } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconDeviceLaptop, IconX } from "../../ui/icons.gen";
import { useState } from "react";
import { Link } from "wouter";
import { call } from "../../api/client";
import type { DeviceRequest } from "../../api/records";
import { useMe } from "../../lib/session";
import { Ago, Code } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { Entry } from "./Entry";

export function Device() {
  const me = useMe();
  const [code, setCode] = useState("");
  const [request, setRequest] = useState<DeviceRequest | null>(null);
  const [chosen, setChosen] = useState(me.org.slug);
  const [outcome, setOutcome] = useState<"approved" | "denied" | null>(null);
  // It may ask for one of your orgs; with several and no wish, you choose.
  const org = me.orgs.find((o) => o.slug === (request?.org || chosen));
  const look = useAction(() => call("POST /v1/auth/device/lookup", { body: { user_code: code } }), { quietErrors: true, then: setRequest });
  const decide = useAction(
    async (how: "approve" | "deny") => {
      await call(how === "approve" ? "POST /v1/auth/device/approve" : "POST /v1/auth/device/deny", { body: { user_code: code }, org: org?.slug });
      return how;
    },
    { quietErrors: true, stale: ["tokens"], then: (how) => setOutcome(how === "approve" ? "approved" : "denied") },
  );
  const error = look.error ?? decide.error;
  if (outcome) {
    return (
      <Entry title={outcome === "approved" ? "Device connected" : "Request denied"} foot={<Link href="/">Go to the dashboard</Link>}>
        <div className={`outcome tone-${outcome === "approved" ? "good" : "block"}`}>
          {outcome === "approved" ? <IconCheck size={26} aria-hidden /> : <IconX size={26} aria-hidden />}
          <p>
            {outcome === "approved"
              ? `${request?.hostname} now acts for you in ${org?.name}. You can close this page; the terminal goes on by itself.`
              : "The device got nothing. If you did not start this, nobody can use that code any more."}
          </p>
        </div>
      </Entry>
    );
  }
  return (
    <Entry
      title={request ? "Connect this device?" : "Connect a device"}
      sub={request ? `It will act as you, ${me.user.email}${org ? `, in ${org.name}` : ""}.` : "Type the code that svc login shows in your terminal."}
      foot="Only approve what you started yourself."
    >
      {error && (
        <Alert color="red" role="alert">
          {error.message}
        </Alert>
      )}
      {!request ? (
        <form
          className="stack"
          onSubmit={(e) => {
            e.preventDefault();
            look.mutate();
          }}
        >
          <TextInput label="Code" placeholder="ABCD-EFGH" required autoFocus autoComplete="off" maxLength={20} value={code} onChange={(e) => setCode(e.target.value.toUpperCase())} classNames={{ input: "device-code" }} />
          <Button type="submit" size="sm" fullWidth loading={look.isPending}>
            Look at the request
          </Button>
        </form>
      ) : (
        <div className="stack">
          <dl className="facts">
            <dt>Host</dt>
            <dd>
              <IconDeviceLaptop size={15} aria-hidden /> <b>{request.hostname}</b>
            </dd>
            <dt>Address</dt>
            <dd>
              <Code>{request.address}</Code> {request.same_address ? <span className="tone-good">the same as yours</span> : <span className="tone-warn">not the one you are at</span>}
            </dd>
            <dt>Asked</dt>
            <dd>
              <Ago at={request.created_at} />
            </dd>
            <dt>Client</dt>
            <dd>{request.cli_version ? `svc ${request.cli_version}` : "unknown"}</dd>
          </dl>
          {!request.same_address && (
            <Alert color="yellow" icon={<IconAlertTriangle size={16} />}>
              The request comes from another address than yours. Deny it unless you know that machine.
            </Alert>
          )}
          {!org && (
            <Alert color="red" icon={<IconAlertTriangle size={16} />}>
              It asks for the org {request.org}, which is none of yours. Deny it, and check what you typed after --org.
            </Alert>
          )}
          {!request.org && me.orgs.length > 1 && (
            <NativeSelect label="In which org" value={chosen} onChange={(e) => setChosen(e.target.value)} data={me.orgs.map((o) => ({ value: o.slug, label: o.name }))} />
          )}
          {request.admin && (
            <Alert color="yellow" icon={<IconAlertTriangle size={16} />}>
              It asks for an administrator&apos;s rights, for 15 minutes: to invite, to set policies, to make tokens.
            </Alert>
          )}
          <div className="two">
            <Button size="sm" variant="default" onClick={() => decide.mutate("deny")} loading={decide.isPending}>
              Deny
            </Button>
            <Button size="sm" disabled={!org} onClick={() => decide.mutate("approve")} loading={decide.isPending}>
              Approve
            </Button>
          </div>
        </div>
      )}
    </Entry>
  );
}
