import { parseArgs } from "node:util";
import { isKeywrightError, type Kv } from "@keywright/core";
import { explore } from "./explore-cities.js";
import { indexByPopulation } from "./index-by-population.js";
import { load } from "./load-cities.js";
import { engineNames, openDatabase, ServerMissingError } from "./open-database.js";

const stopped = "\nStopped. Run it again to continue from here.";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { engine: { type: "string", default: "leveldb" } },
});

process.exitCode = await main(values.engine, positionals[0]);

/** @returns the exit code of the process: 130 if Ctrl-C stopped it. */
async function main(engine: string, place: string | undefined): Promise<number> {
  const name = engineNames.find((each) => each === engine);
  if (name === undefined) {
    console.error(`--engine ${engine}: must be ${engineNames.join(", ")}`);
    return 2;
  }
  const interrupt = new AbortController();
  // Under `npm start` one Ctrl-C arrives twice: from the terminal and from npm.
  process.on("SIGINT", () => interrupt.abort());
  try {
    const { kv, description } = await openDatabase(name, place);
    try {
      console.log(`Database: ${description}`);
      if (await run(kv, interrupt.signal)) return 0;
      console.log(name === "memory" ? "\nStopped." : stopped);
      return 130;
    } finally {
      await kv.close();
    }
  } catch (error) {
    if (error instanceof ServerMissingError) console.error(error.message);
    else if (isKeywrightError(error)) console.error(`${error.code}: ${error.message}`);
    else throw error;
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
