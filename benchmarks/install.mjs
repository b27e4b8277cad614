// Installs the packages that only the benchmark needs, in the folder `peers`, and generates Prisma's
// client. If npm cannot download a binary of better-sqlite3, it compiles it, which takes some
// minutes and a compiler.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isInstalled } from "./contenders/peer.mjs";

const folder = fileURLToPath(new URL("peers/", import.meta.url));

if (!isInstalled()) {
  console.log("Installing what Keywright is compared with. This takes some minutes.");
  run("npm ci --loglevel=error --no-audit --no-fund");
  // Generating a client needs no schema engine, which Prisma would download from another host.
  run("npx prisma generate", { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath });
}

function run(command, env = {}) {
  const options = { cwd: folder, stdio: "inherit", shell: true, env: { ...process.env, ...env } };
  const { status } = spawnSync(command, options);
  if (status !== 0) throw new Error(`${command} failed in ${folder}.`);
}
