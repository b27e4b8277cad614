import { describe, expect, it } from "vitest";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { FaultCampaign } from "./fault-campaign.mjs";
import { limitFaults, someFaults } from "./faults-of.mjs";

const missing = missingPreload();
const seed = Date.now();

// It waits for other processes, on whatever machine.
describe.skipIf(missing !== undefined)(
  `a call of the system that fails${missing ? `: needs ${missing}` : ""}`,
  { timeout: 300_000 },
  () => {
    it("loses no commit and leaves no half, whichever call it is", async () => {
      const campaign = await FaultCampaign.begin();
      try {
        const random = new Random(seed);
        const script = { models: false, blobs: 1, blobBytes: 1000 };
        const withModels = { models: true, blobs: 0, blobBytes: 0 };
        const [made, madeWithModels] = await campaign.count([script, withModels]);
        const others = someFaults(madeWithModels, random);
        const faults = [
          ...someFaults(made, random),
          ...limitFaults({ descriptors: 9, bytes: 1500, step: 500 }),
        ];
        await campaign.run([
          ...faults.map((fault) => ({ fault, script })),
          ...Array.from({ length: 6 }, () => ({ fault: random.pick(others), script: withModels })),
        ]);
        expect(campaign.problems, `seed ${seed}`).toEqual([]);
        expect(campaign.figures.refused).toBeGreaterThan(100);
      } finally {
        await campaign.end();
      }
    });
  },
);
