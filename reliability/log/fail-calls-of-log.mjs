import { FaultCampaign } from "../io-faults/fault-campaign.mjs";
import { limitFaults, someFaults } from "../io-faults/faults-of.mjs";

const module = new URL("log-fault-script.mjs", import.meta.url);

/**
 * Lets calls of the system fail while a database with a log is followed, backed up and restored,
 * one in each run. See log-fault-script.mjs.
 *
 * @returns `{ faults, refused, problems }`: how many runs had a fault, how many of them had refused
 * calls, and what is wrong in words.
 */
export async function failCallsOfLog(runs, random) {
  const campaign = await FaultCampaign.begin(module);
  try {
    const scriptOf = () => ({ commits: 6, seed: random.below(2 ** 32) });
    const [made] = await campaign.count([scriptOf()]);
    const faults = [
      ...someFaults(made, random),
      ...limitFaults({ descriptors: 20, bytes: 40_000, step: 1000 }),
    ];
    // Some runs end before the call is made that should fail.
    while (campaign.figures.faults < runs) {
      const length = runs - campaign.figures.faults;
      const picked = Array.from({ length }, () => random.pick(faults));
      await campaign.run(picked.map((fault) => ({ fault, script: scriptOf() })));
    }
    const { faults: count, refused } = campaign.figures;
    return { faults: count, refused, problems: campaign.problems };
  } finally {
    await campaign.end();
  }
}
