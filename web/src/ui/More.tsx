import { Drawer } from "@mantine/core";
import type { ReactNode } from "react";

/** What a phone's tabs have no room for. */
export const More = ({ onClose, children }: { onClose: () => void; children: ReactNode }) => (
  <Drawer opened onClose={onClose} position="bottom" size="auto" title="Go to" classNames={{ content: "drawer" }}>
    {children}
  </Drawer>
);
