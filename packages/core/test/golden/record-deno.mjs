// Records in `deno-calls.json` what Deno KV does with the calls of `deno-cases.mjs`. Run it with
// Deno 2.9.6:
//
//   npx deno@2.9.6 run --unstable-kv --allow-all packages/core/test/golden/record-deno.mjs
import { writeFileSync } from "node:fs";
import { denoCases, denoContext, outcomeOf } from "./deno-cases.mjs";

const { Deno } = globalThis;
Deno.env.delete("DENO_KV_ACCESS_TOKEN");
const outcomes = {};
for (const [name, { given, run }] of denoCases) {
  const kv = await Deno.openKv(":memory:");
  const context = { ...denoContext(), kv };
  await given?.(context);
  outcomes[name] = await outcomeOf(run, context);
  kv[Symbol.dispose]();
}

const file = new URL("deno-calls.json", import.meta.url);
const lines = Object.entries(outcomes).map(
  ([name, outcome]) => `    ${JSON.stringify(name)}: ${JSON.stringify(outcome)}`,
);
writeFileSync(
  file,
  `{\n  "deno": ${JSON.stringify(Deno.version.deno)},\n  "calls": {\n${lines.join(",\n")}\n  }\n}\n`,
);
