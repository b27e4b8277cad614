// `node scripts/with-sqlite.mjs run test/slow`: runs Vitest, with these arguments, on a Node.js
// that has SQLite. Node.js 20 has none, so it installs one of those of test:runtimes from npm. To
// compile better-sqlite3 would take minutes.
import { spawn } from "node:child_process";
import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { installRuntimes } from "./runtimes/install.mjs";
import { runtimes } from "./runtimes/runtimes.mjs";

/** Returns the path of a Node.js that has SQLite. */
export function nodeWithSqlite() {
  if (isBuiltin("node:sqlite")) return process.execPath;
  const [{ program }] = installRuntimes(runtimes.filter(({ name }) => name === "node22"));
  return program;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
  const args = [vitest, ...process.argv.slice(2)];
  spawn(nodeWithSqlite(), args, { stdio: "inherit" }).on("close", (exitCode) => {
    process.exitCode = exitCode ?? 1;
  });
}
