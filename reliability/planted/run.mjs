// Plants known faults and looks for each with the campaigns that reach it: `npm run soak:planted`.
// `--fault stale-version` looks for one, `--seeds 1` with fewer seeds, and `--seed` repeats. The
// results of the others stay. Exits with 1 if a fault is not found.
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { writeResults } from "../shared/write-results.mjs";
import { campaigns } from "./campaigns.mjs";
import { countsOf } from "./fault-table.mjs";
import { faults } from "./faults/faults.mjs";
import { huntFault } from "./hunt-fault.mjs";

const { values } = parseArgs({
  options: {
    fault: { type: "string" },
    seeds: { type: "string", default: "3" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
if (values.fault !== undefined && !Object.hasOwn(faults, values.fault))
  throw new Error(`--fault must be one of ${Object.keys(faults).join(", ")}`);
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => Number(values.seed) + i * 1e6);

const names = values.fault === undefined ? Object.keys(faults) : [values.fault];
const found = {};
for (const name of names) {
  found[name] = await lookFor(name);
  console.log(`${name}: ${textOf(found[name])}`);
}
const known = { ...resultsSoFar(), ...found };
const figures = Object.fromEntries(
  Object.keys(faults).flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]])),
);
const counts = countsOf(figures);
writeResults(
  "planted",
  figures,
  `${counts.found} of ${counts.planted} planted faults found`,
  false,
);
if (counts.found < counts.planted) process.exitCode = 1;

function resultsSoFar() {
  const path = new URL("../results/planted.json", import.meta.url);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).figures : {};
}

/** Tries one campaign after another until one finds the fault with each seed. */
async function lookFor(name) {
  const missed = [];
  for (const campaign of faults[name].campaigns) {
    const hunts = [];
    for (const seed of seeds) {
      const hunt = await huntFault(name, campaign, seed);
      if (hunt.problem !== undefined) console.log(`  ${campaign}, seed ${seed}: ${hunt.problem}`);
      hunts.push(hunt);
      if (hunt.problem === undefined) break;
    }
    const steps = median(hunts.map((hunt) => hunt.steps));
    const seconds = Math.round(10 * median(hunts.map((hunt) => hunt.seconds))) / 10;
    if (hunts.at(-1).problem !== undefined)
      return { campaign, steps, seconds, seeds: hunts.length, missed };
    missed.push({ campaign, steps: hunts.at(-1).steps, seconds: Math.round(hunts.at(-1).seconds) });
  }
  return { missed };
}

function textOf({ campaign, steps, seconds, missed }) {
  const without = missed.map((each) => `not in ${each.steps} ${campaigns[each.campaign].unit}`);
  const by = campaign && `after ${steps} ${campaigns[campaign].unit}, ${seconds} s`;
  return [...without, ...(by === undefined ? [] : [by])].join("; ");
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
