// Dialogs that ask before something happens.
import { Button, Modal } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Problem } from "../api/client";
import { done, failed } from "./toast";

/** An action on the server, with its notice and the lists it makes stale. */
export function useAction<V = void, T = unknown>(run: (v: V) => Promise<T>, options: { says?: string; stale?: string[]; then?: (t: T) => void; quietErrors?: boolean } = {}) {
  const client = useQueryClient();
  return useMutation<T, Error, V>({
    mutationFn: run,
    onSuccess: (t) => {
      if (options.says) done(options.says);
      for (const key of options.stale ?? []) void client.invalidateQueries({ queryKey: [key] });
      options.then?.(t);
    },
    onError: (e) => {
      if (!options.quietErrors) failed(e);
    },
  });
}

export const fieldError = (error: unknown, path: string): string | undefined => (error instanceof Problem ? error.field(path) : undefined);

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
    <Modal opened={opened} onClose={onClose} title={title}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          onConfirm();
        }}
        className="stack"
      >
        {children}
        <div className="dialog-actions">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color={danger ? "red.8" : undefined} loading={busy} disabled={disabled}>
            {confirm}
          </Button>
        </div>
      </form>
    </Modal>
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
