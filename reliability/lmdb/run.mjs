// Kills processes with an LMDB file, also its owner under attached writers, cuts their power and
// damages the file: `npm run soak:lmdb -- --kills 500 --owners 50 --cuts 1000 --damages 5000`. Exits with 1 if something is lost or wrong.
import { parseArgs } from "node:util";
import { killOwner } from "../attached/kill-owner.mjs";
import { cutPowerOfFile } from "../file-power/cut-power-of-file.mjs";
import { killsOfOneDatabase, killWork } from "../kill/kill-run.mjs";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { damageLmdb } from "./damage-lmdb.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "500" },
    owners: { type: "string", default: "50" },
    cuts: { type: "string", default: "1000" },
    damages: { type: "string", default: "5000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const cutsOfOneDatabase = 40;
let seed = Number(values.seed);
let wrong = 0;

const kills = { kills: 0, calls: 0 };
while (kills.kills < Number(values.kills)) {
  const { calls, problems } = await killWork(killsOfOneDatabase, new Random(seed), "data.mdb");
  kills.kills += killsOfOneDatabase;
  kills.calls += calls;
  report("kill", problems);
}

const owners = { kills: Number(values.owners), commits: 0 };
const attached = await killOwner(owners.kills, new Random(seed), "data.mdb");
owners.commits = attached.commits;
report("kill of the owner", attached.problems);

const cuts = { cuts: 0, whole: 0 };
const missing = missingPreload();
if (missing !== undefined) console.error(`no power cuts: they need ${missing}`);
while (missing === undefined && cuts.cuts < Number(values.cuts)) {
  const random = new Random(seed);
  const { whole, problems } = await cutPowerOfFile("data.mdb", {
    durability: random.pick(["full", "relaxed"]),
    commits: 400,
    valueBytes: random.pick([300, 3_000, 40_000]),
    cuts: cutsOfOneDatabase,
    random,
  });
  cuts.cuts += cutsOfOneDatabase;
  cuts.whole += whole;
  report("power cut", problems);
}

const { counts, problems } = await damageLmdb(Number(values.damages), new Random(seed));
report("damage", problems);
writeResults(
  "lmdb",
  { kills, owners, cuts, damages: { ...counts, wrong: problems.length } },
  `${kills.kills} kills with ${kills.calls} calls acknowledged; ${owners.kills} kills of the owner with ` +
    `${owners.commits} commits of an attached process; ${cuts.cuts} power cuts, ${cuts.whole} ` +
    `without loss; ${values.damages} damages, ${counts.reported} reported, ${counts.nothing} without ` +
    `effect, ${counts.ended} ended the process; ${wrong} wrong`,
);
if (wrong > 0) process.exitCode = 1;

function report(what, found) {
  for (const problem of found) console.error(`${what}, seed ${seed}: ${problem}`);
  wrong += found.length;
  seed++;
}
