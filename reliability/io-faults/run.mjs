// Lets calls of the system fail: `npm run soak:io-faults`. Exits with 1 if an acknowledged commit is
// missing, if something is there in part, or if an error has no code.
import { parseArgs } from "node:util";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { FaultCampaign } from "./fault-campaign.mjs";
import { allFaults, limitFaults, someFaults } from "./faults-of.mjs";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const missing = missingPreload();
if (missing !== undefined) throw new Error(`failing calls need ${missing}`);
const small = { models: false, blobs: 2, blobBytes: 1000 };
const withModels = { models: true, verifies: true, blobs: 1, blobBytes: 1000 };
/** LevelDB starts new logs and writes tables meanwhile. */
const large = { models: false, blobs: 60, blobBytes: 100_000 };
const random = new Random(Number(values.seed));
const campaign = await FaultCampaign.begin();
try {
  const [made, madeWithModels, madeByLarge] = await campaign.count([small, withModels, large]);
  const limits = limitFaults({ descriptors: 30, bytes: 20_000, step: 400 });
  const run = async (faults, script) => {
    await campaign.run(faults.map((fault) => ({ fault, script })));
    for (const problem of campaign.problems.splice(0)) console.error(problem);
  };
  await run([...allFaults(made), ...limits], small);
  await run([...someFaults(madeWithModels, random), ...limits], withModels);
  const largeLimits = limitFaults({ descriptors: 0, bytes: 12_000_000, step: 400_000 });
  const largeFaults = someFaults(madeByLarge, random);
  const sample = Array.from({ length: 150 }, () => random.pick(largeFaults));
  await run([...sample, ...largeLimits], large);
} finally {
  await campaign.end();
}
const { figures, refusals } = campaign;
const { faults, unreached, refused, wrong } = figures;
writeResults(
  "io-faults",
  { ...figures, refusals },
  `${faults} runs with a fault, ${refused} of them with refused calls: ${wrong} with a lost commit, ` +
    `a half or an error without a code (${unreached} runs did not reach their fault)`,
);
if (wrong > 0) process.exitCode = 1;
