// Writes a brotli and a gzip form beside every text file of the build, so that
// the server never compresses.
import { readdirSync, readFileSync, writeFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("../../internal/server/dashboard/dist/", import.meta.url).pathname;
for (const name of readdirSync(dist, { recursive: true })) {
  const file = join(dist, String(name));
  if (!/\.(js|css|svg|txt)$/.test(file) || statSync(file).size < 512) continue;
  const text = readFileSync(file);
  writeFileSync(file + ".br", brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  writeFileSync(file + ".gz", gzipSync(text, { level: 9 }));
}
