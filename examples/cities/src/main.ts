import { fileURLToPath } from "node:url";
import { isKeywrightError, type Kv, openKv } from "@keywright/core";
import { explore } from "./explore-cities.js";
import { indexByPopulation } from "./index-by-population.js";
import { load } from "./load-cities.js";

const defaultPath = fileURLToPath(new URL("../data", import.meta.url));

process.exitCode = await main(process.argv[2] ?? defaultPath);

/** @returns the exit code of the process: 130 if Ctrl-C stopped it. */
async function main(path: string): Promise<number> {
  const interrupt = new AbortController();
  // Under `npm start` one Ctrl-C arrives twice: from the terminal and from npm.
  process.on("SIGINT", () => interrupt.abort());
  try {
    const kv = await openKv(path);
    try {
      console.log(`Database: ${path} (delete this folder to start over)`);
      if (await run(kv, interrupt.signal)) return 0;
      console.log("\nStopped. Run it again to continue from here.");
      return 130;
    } finally {
      await kv.close();
    }
  } catch (error) {
    if (!isKeywrightError(error)) throw error;
    console.error(`${error.code}: ${error.message}`);
    return 1;
  }
}

/** @returns false if the signal stopped it before the end. */
async function run(kv: Kv, signal: AbortSignal): Promise<boolean> {
  if (!(await load(kv, signal))) return false;
  await explore(kv);
  if (!(await indexByPopulation(kv, signal))) return false;
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(`\nPeak memory: ${peak} MiB`);
  return true;
}
