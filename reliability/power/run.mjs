// Cuts the power of processes that commit: `npm run soak:power -- --cuts 1000`. Exits with 1 if an
// acknowledged commit is missing that must be there, or if a database has something wrong.
import { parseArgs } from "node:util";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { cutPower } from "./cut-power.mjs";

const { values } = parseArgs({
  options: {
    cuts: { type: "string", default: "1000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const missing = missingPreload();
if (missing !== undefined) throw new Error(`power cuts need ${missing}`);
const cutsOfOneDatabase = 40;
const figures = { full: begin(), relaxed: begin() };
let seed = Number(values.seed);
for (const durability of ["full", "relaxed"]) {
  const total = figures[durability];
  while (cutsOf(total) < Number(values.cuts) / 2) {
    const random = new Random(seed);
    const valueBytes = random.pick([300, 3_000, 40_000]);
    const work = { durability, commits: 600, valueBytes, cuts: cutsOfOneDatabase, random };
    const { outcomes, problems, acknowledged } = await cutPower(work);
    for (const kind of Object.keys(outcomes)) total[kind] += outcomes[kind];
    total.lost += problems.length;
    total.acknowledged += acknowledged;
    for (const problem of problems) console.error(`${durability}, seed ${seed}: ${problem}`);
    seed++;
  }
}
const { full, relaxed } = figures;
writeResults(
  "power",
  figures,
  `full: ${cutsOf(full)} cuts, ${full.whole} without loss; relaxed: ${cutsOf(relaxed)} cuts, ` +
    `${relaxed.whole} without loss, ${relaxed.prefix} with a prefix of the commits, ` +
    `${relaxed.refused} refused, ${relaxed.wrong} wrong`,
);
if (full.lost + relaxed.lost > 0) process.exitCode = 1;

function begin() {
  return { acknowledged: 0, whole: 0, prefix: 0, refused: 0, wrong: 0, lost: 0 };
}

function cutsOf({ whole, prefix, refused, wrong }) {
  return whole + prefix + refused + wrong;
}
