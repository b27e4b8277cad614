import { Random } from "../shared/random.mjs";
import * as kvScript from "./kv-script.mjs";
import * as queryScript from "./query-script.mjs";
import * as searchScript from "./search-script.mjs";

/**
 * Runs random calls of our Deno mode and of `@deno/kv` on new databases, until there were as many.
 *
 * @returns the number of calls, and for each script whose results differ its seed and the call.
 */
export async function compareWithDeno(calls, seed) {
  return await compare(calls, seed, 60, async (random, count) => {
    const both = await kvScript.openBoth();
    try {
      return await kvScript.runScript(both, random, count);
    } finally {
      await both.ours.kv.close();
      both.deno.kv.close();
    }
  });
}

/** The same for random calls of a model, and statements of SQLite. */
export async function compareWithSql(calls, seed) {
  return await compare(calls, seed, 100, async (random, count) => {
    const both = await queryScript.openBoth();
    try {
      return await queryScript.runQueries(both, random, count);
    } finally {
      await both.kv.close();
      both.table.close();
    }
  });
}

/** The same for random notes, and searches that look at all of them. */
export async function compareSearches(calls, seed) {
  return await compare(calls, seed, 3600, async (random, count) => {
    const both = await searchScript.openBoth();
    try {
      return await searchScript.runSearches(both, random, count);
    } finally {
      await both.kv.close();
    }
  });
}

async function compare(calls, seed, callsOfScript, run) {
  const differences = [];
  let made = 0;
  for (let i = seed; made < calls; i++) {
    for (const difference of await run(new Random(i), callsOfScript))
      differences.push(`seed ${i}: ${difference}`);
    made += callsOfScript;
  }
  return { calls: made, differences };
}
