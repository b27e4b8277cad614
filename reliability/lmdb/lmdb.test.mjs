import { describe, expect, it } from "vitest";
import { killOwner } from "../attached/kill-owner.mjs";
import { cutPowerOfFile } from "../file-power/cut-power-of-file.mjs";
import { killWork } from "../kill/kill-run.mjs";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { damageLmdb } from "./damage-lmdb.mjs";

const missing = missingPreload();
const seed = Date.now();

// They wait for other processes, on whatever machine.
describe("an LMDB file", { timeout: 300_000 }, () => {
  it("has each acknowledged call after a kill, and no call by half", async () => {
    const { calls, problems } = await killWork(4, new Random(seed), "data.mdb");
    expect(problems, `seed ${seed}`).toEqual([]);
    expect(calls).toBeGreaterThan(0);
  });

  it.skipIf(process.platform === "win32")(
    "loses no commit of attached processes if its owner is killed",
    async () => {
      const { commits, problems } = await killOwner(2, new Random(seed), "data.mdb");
      expect(problems, `seed ${seed}`).toEqual([]);
      expect(commits).toBeGreaterThan(64);
    },
  );

  it.skipIf(missing !== undefined)(
    `loses no acknowledged commit in a power cut${missing ? `: needs ${missing}` : ""}`,
    async () => {
      const random = new Random(seed);
      const work = { durability: "relaxed", commits: 300, valueBytes: 3_000, cuts: 12, random };
      const { whole, problems } = await cutPowerOfFile("data.mdb", work);
      expect(problems, `seed ${seed}`).toEqual([]);
      expect(whole).toBe(12);
    },
  );

  it("hides nothing if it is damaged", async () => {
    const { counts, problems } = await damageLmdb(24, new Random(seed));
    expect(problems, `seed ${seed}`).toEqual([]);
    expect(counts.reported).toBeGreaterThan(0);
  });
});
