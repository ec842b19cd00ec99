import react from "@vitejs/plugin-react";
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

// The server answers page paths with index.html; it learns them from the same
// list that the router reads.
function pages(): Plugin {
  return {
    name: "pages",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "pages.json", source: readFileSync("src/pages.json") });
    },
  };
}

const server = process.env.SVC_DEV_SERVER ?? "http://127.0.0.1:7790";

export default defineConfig({
  plugins: [react(), pages()],
  build: {
    outDir: "../internal/server/dashboard/dist",
    emptyOutDir: true,
    target: "es2022",
    // An inlined asset would need data: in more places of the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { "/v1": { target: server, changeOrigin: true } } },
});
