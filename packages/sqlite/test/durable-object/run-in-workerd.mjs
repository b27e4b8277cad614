// Runs worker.mjs in workerd, the runtime of Cloudflare's Workers, which Miniflare starts. Exits
// with 1 if a test fails. `npm run test:runtimes` installs Miniflare, and passes the path of its
// package.
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const { Miniflare } = createRequire(join(process.argv[2], "package.json"))("miniflare");
const { outputFiles } = await esbuild.build({
  entryPoints: [fileURLToPath(new URL("worker.mjs", import.meta.url))],
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
  // A worker has no LevelDB, and only opening a folder loads it.
  external: ["cloudflare:workers", "node:*"],
  alias: { "classic-level": fileURLToPath(new URL("no-level.mjs", import.meta.url)) },
  logLevel: "warning",
});
const miniflare = new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: "2026-07-01",
  compatibilityFlags: ["nodejs_compat"],
  durableObjects: { STORE: { className: "Store", useSQLite: true } },
});
try {
  const response = await miniflare.dispatchFetch("http://localhost/");
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  const { passed, skipped, failures } = JSON.parse(text);
  for (const failure of failures) console.error(failure);
  console.log(`${passed} passed, ${skipped} skipped, ${failures.length} failed`);
  if (failures.length > 0 || passed === 0) process.exitCode = 1;
} finally {
  await miniflare.dispose();
}
