// Kills the owner of a folder under attached writers: `npm run soak:attached -- --kills 50`. Exits
// with 1 if a commit is lost or made twice.
import { parseArgs } from "node:util";
import { Random } from "../shared/random.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { killOwner } from "./kill-owner.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "50" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const kills = Number(values.kills);
const { commits, problems } = await killOwner(kills, new Random(Number(values.seed)));
for (const problem of problems) console.error(`seed ${values.seed}: ${problem}`);
writeResults(
  "attached",
  { kills, commits, wrong: problems.length },
  `${kills} kills under 64 writers, ${commits} commits acknowledged, ${problems.length} lost or made twice`,
);
if (problems.length > 0) process.exitCode = 1;
