// Dialogs that ask before something happens.
import { Alert, Button, Modal, type ModalProps } from "@mantine/core";
import { useEffect, useState, type ReactNode } from "react";
import { fieldError } from "./action";
import { Command } from "./bits";

/** A form in a dialog. It says what went wrong, unless one of its fields does. */
export function Form({ onSubmit, onCancel, confirm, error, fields = [], danger = false, busy = false, disabled = false, children }: { onSubmit: () => void; onCancel: () => void; confirm: string; error?: Error | null; fields?: string[]; danger?: boolean; busy?: boolean; disabled?: boolean; children: ReactNode }) {
  return (
    <form
      className="stack"
      onSubmit={(e) => {
        e.preventDefault();
        onSubmit();
      }}
    >
      {error && !fields.some((f) => fieldError(error, f)) && (
        <Alert color="red" role="alert">
          {error.message}
        </Alert>
      )}
      {children}
      <div className="dialog-actions">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" color={danger ? "red.8" : undefined} loading={busy} disabled={disabled}>
          {confirm}
        </Button>
      </div>
    </form>
  );
}

/** A secret that is shown this once. */
export function Once({ secret, note, onClose }: { secret: string; note: string; onClose: () => void }) {
  return (
    <div className="stack">
      <Alert color="yellow">{note}</Alert>
      <Command>{secret}</Command>
      <div className="dialog-actions">
        <Button onClick={onClose}>I have it</Button>
      </div>
    </div>
  );
}

/** A modal that gives the focus back, also when it is taken off the page
 * instead of closed: Mantine's own does so only on closing. */
export function Dialog({ children, ...props }: ModalProps) {
  const [opener] = useState(() => (props.opened ? document.activeElement : null));
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement && opener.isConnected && document.activeElement === document.body) opener.focus();
    },
    [opener],
  );
  return <Modal {...props}>{children}</Modal>;
}

export function Ask({
  opened,
  onClose,
  title,
  children,
  confirm,
  danger = false,
  busy = false,
  onConfirm,
  disabled = false,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  confirm: string;
  danger?: boolean;
  busy?: boolean;
  disabled?: boolean;
  onConfirm: () => void;
}) {
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      <Form onSubmit={onConfirm} onCancel={onClose} confirm={confirm} danger={danger} busy={busy} disabled={disabled}>
        {children}
      </Form>
    </Dialog>
  );
}

/** A button that asks once before it acts. */
export function Confirmed({ label, title, text, confirm, onConfirm, variant = "default" }: { label: ReactNode; title: string; text: ReactNode; confirm: string; onConfirm: () => Promise<unknown>; variant?: string }) {
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  return (
    <>
      <Button size="compact-xs" variant={variant} color={variant === "default" ? undefined : "red"} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Ask
        opened={open}
        onClose={() => setOpen(false)}
        title={title}
        confirm={confirm}
        danger
        busy={busy}
        onConfirm={() => {
          setBusy(true);
          onConfirm()
            .then(() => setOpen(false))
            .catch(() => {})
            .finally(() => setBusy(false));
        }}
      >
        <p className="dim">{text}</p>
      </Ask>
    </>
  );
}
