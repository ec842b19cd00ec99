import { useCallback, useRef, useState } from "react";

export interface PaletteState {
  opened: boolean;
  open: () => void;
  close: () => void;
}

export function usePalette(): PaletteState {
  const [opened, set] = useState(false);
  const opener = useRef<Element | null>(null);
  const open = useCallback(() => {
    opener.current = document.activeElement;
    set(true);
  }, []);
  // It is taken off the page when it closes: the focus goes back to where it was, unless it went somewhere.
  const close = useCallback(() => {
    set(false);
    requestAnimationFrame(() => {
      if (document.activeElement === document.body && opener.current instanceof HTMLElement) opener.current.focus();
    });
  }, []);
  return { opened, open, close };
}
