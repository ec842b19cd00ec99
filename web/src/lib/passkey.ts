// Passkeys: what the browser and the person's device do for them.
import { call } from "../api/client";

/** Why there are no passkeys on this page, if there are none. */
export function noPasskeys(): string | undefined {
  if (!isSecureContext) return "This page was opened without https, and browsers have passkeys only on https pages. Open svc by its https address.";
  if (typeof PublicKeyCredential === "undefined" || !("parseRequestOptionsFromJSON" in PublicKeyCredential)) return "This browser is too old for passkeys. Update it, or use another one.";
  return undefined;
}

// What browsers call it, and what it is.
const reasons: Record<string, string> = {
  NotAllowedError: "No passkey was chosen. Try again, or go another way.",
  InvalidStateError: "This device has a passkey for your account already.",
  SecurityError: `Passkeys of this server belong to its public address, and this page is at ${location.host}. Open svc by its public address.`,
};

async function answered(ask: () => Promise<Credential | null>) {
  try {
    const credential = (await ask()) as PublicKeyCredential | null;
    if (!credential) throw new DOMException("", "NotAllowedError");
    return credential.toJSON() as Record<string, unknown>;
  } catch (e) {
    throw e instanceof DOMException && reasons[e.name] ? new Error(reasons[e.name]) : e;
  }
}

function must(): void {
  const why = noPasskeys();
  if (why) throw new Error(why);
}

/** Has the person choose a passkey, and returns its answer to the server. */
export async function showPasskey(): Promise<Record<string, unknown>> {
  must();
  const { options } = await call("POST /v1/auth/passkey");
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as unknown as PublicKeyCredentialRequestOptionsJSON);
  return answered(() => navigator.credentials.get({ publicKey }));
}

/** Has the person's device make a passkey. */
export async function makePasskey(name: string) {
  must();
  const { options } = await call("POST /v1/auth/passkeys");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as unknown as PublicKeyCredentialCreationOptionsJSON);
  const credential = await answered(() => navigator.credentials.create({ publicKey }));
  return call("POST /v1/auth/passkeys/add", { body: { name, credential } });
}
