import { MantineProvider, localStorageColorSchemeManager } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/client";
import { App } from "./App";
import "./styles/mantine.css";
import "./styles/app.css";
import { theme, variables } from "./theme";
import { Boundary } from "./ui/page";
import { Toasts } from "./ui/toast";

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
// The library that locks scrolling under a dialog looks for the nonce here.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the server refuses it refuses again; only trouble on the way is tried anew.
      retry: (n, err) => (err instanceof Problem ? (err.status === 0 || err.status >= 500) && n < 3 : n < 2),
      refetchOnWindowFocus: true,
    },
  },
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={variables} getStyleNonce={() => nonce} defaultColorScheme="auto" colorSchemeManager={localStorageColorSchemeManager({ key: "svc-scheme" })}>
      <QueryClientProvider client={client}>
        <Boundary name="app">
          <App />
        </Boundary>
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
