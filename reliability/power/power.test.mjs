import { describe, expect, it } from "vitest";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { cutPower } from "./cut-power.mjs";

const missing = missingPreload();
const seed = Date.now();

// It waits for other processes, on whatever machine.
describe.skipIf(missing !== undefined)(`a power cut${missing ? `: needs ${missing}` : ""}`, () => {
  it("loses no commit that was acknowledged with full durability", async () => {
    const random = new Random(seed);
    // Each process writes 8 MB, so LevelDB starts new log files and writes table files.
    const work = { durability: "full", commits: 400, valueBytes: 40_000, cuts: 16, random };
    const { outcomes, problems } = await cutPower(work);
    expect(problems, `seed ${seed}`).toEqual([]);
    expect(outcomes.whole).toBe(16);
  });

  it("with relaxed durability leaves a prefix of the commits, or a refused database", async () => {
    const random = new Random(seed);
    const work = { durability: "relaxed", commits: 400, valueBytes: 3_000, cuts: 8, random };
    const { problems } = await cutPower(work);
    expect(problems, `seed ${seed}`).toEqual([]);
  });
});
