// Writes src/api/schema.gen.ts from the API document that the server's own
// code prints. It is made when types are checked, and never committed.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const root = new URL("../../", import.meta.url).pathname;
const text = execFileSync("go", ["run", "./internal/tools/openapi"], { cwd: root, maxBuffer: 64 << 20, encoding: "utf8" });
const ast = await openapiTS(JSON.parse(text), { alphabetize: true, defaultNonNullable: false });
writeFileSync(new URL("../src/api/schema.gen.ts", import.meta.url), "// Generated from the API document. Do not edit.\n" + astToString(ast));
