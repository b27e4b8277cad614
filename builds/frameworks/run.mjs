// `npm run test:frameworks`: installs the packed packages and some frameworks in a temporary
// folder, and runs the programs of the folders here. `-- express jest` runs only these.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checks } from "./checks/checks.mjs";
import { installPrograms } from "./checks/install.mjs";

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => checks[name] === undefined);
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. Choose from ${Object.keys(checks).join(", ")}.`);
  process.exit(2);
}
const names = chosen.length > 0 ? chosen : Object.keys(checks);
const folder = await mkdtemp(join(tmpdir(), "keywright-frameworks-"));
process.env.NEXT_TELEMETRY_DISABLED = "1";
try {
  await timed("installing", () => installPrograms(folder, names));
  for (const name of names)
    await timed(name, () => {
      const env = { ...process.env, DATABASE: join(folder, `${name}-data`) };
      return checks[name]({ folder, cwd: join(folder, name), env });
    });
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function timed(name, step) {
  const started = performance.now();
  const note = await step();
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${name}: passed in ${seconds} s${note === undefined ? "" : `; ${note}`}`);
}
