// Measures the cost of an operation and the memory of the process, with few keys and with many.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeKeywright } from "./stores.mjs";

const script = fileURLToPath(new URL("one-size.mjs", import.meta.url));
/** The row and its two index entries. */
const keysPerRow = 3;

/**
 * Measures a database for each of the numbers of keys, each in a separate process.
 *
 * @returns for each database the nanoseconds of `get`, `commit` and `list` (per entry), and the
 * bytes of memory that the process gained.
 */
export async function measureFlatCost(folder, effort, keyCounts) {
  const results = [];
  for (const keys of keyCounts) {
    const path = join(folder, `keys-${keys}`);
    const rows = Math.round(keys / keysPerRow);
    await makeKeywright(path, rows);
    results.push({ keys, ...(await measureInProcess({ path, rows, effort })) });
  }
  return results;
}

async function measureInProcess(task) {
  const child = fork(script, [JSON.stringify(task)], { execArgv: ["--expose-gc"] });
  const exit = once(child, "exit").then(([code]) => {
    throw new Error(`the measuring process ended with ${code}, and without figures`);
  });
  exit.catch(() => undefined);
  const [figures] = await Promise.race([once(child, "message"), exit]);
  return figures;
}
