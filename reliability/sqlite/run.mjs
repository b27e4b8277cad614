// Kills processes with an SQLite file, and cuts their power: `npm run soak:sqlite -- --kills 500
// --cuts 1000`. Exits with 1 if something is lost or wrong.
import { parseArgs } from "node:util";
import { cutPowerOfFile } from "../file-power/cut-power-of-file.mjs";
import { killsOfOneDatabase, killWork } from "../kill/kill-run.mjs";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { writeResults } from "../shared/write-results.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "500" },
    cuts: { type: "string", default: "1000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const file = "data.sqlite";
const cutsOfOneDatabase = 40;
let seed = Number(values.seed);
let wrong = 0;

const kills = { kills: 0, calls: 0 };
while (kills.kills < Number(values.kills)) {
  const { calls, problems } = await killWork(killsOfOneDatabase, new Random(seed), file);
  kills.kills += killsOfOneDatabase;
  kills.calls += calls;
  report("kill", problems);
}

const missing = missingPreload();
if (missing !== undefined) console.error(`no power cuts: they need ${missing}`);
const full = await cutAll("full");
const relaxed = await cutAll("relaxed");
writeResults(
  "sqlite",
  { kills, full, relaxed },
  `${kills.kills} kills with ${kills.calls} calls acknowledged; full: ${full.cuts} power cuts, ` +
    `${full.whole} without loss; relaxed: ${relaxed.cuts} power cuts, ${relaxed.whole} without ` +
    `loss, ${relaxed.prefix} with a prefix of the commits; ${wrong} wrong`,
);
if (wrong > 0) process.exitCode = 1;

async function cutAll(durability) {
  const total = { cuts: 0, whole: 0, prefix: 0 };
  while (missing === undefined && total.cuts < Number(values.cuts) / 2) {
    const random = new Random(seed);
    const { whole, prefix, problems } = await cutPowerOfFile(file, {
      durability,
      commits: 400,
      valueBytes: random.pick([300, 3_000, 40_000]),
      cuts: cutsOfOneDatabase,
      random,
      mayLoseLatest: durability === "relaxed",
    });
    total.cuts += cutsOfOneDatabase;
    total.whole += whole;
    total.prefix += prefix;
    report(`power cut, ${durability}`, problems);
  }
  return total;
}

function report(what, found) {
  for (const problem of found) console.error(`${what}, seed ${seed}: ${problem}`);
  wrong += found.length;
  seed++;
}
