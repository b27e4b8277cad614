import { isBuiltin } from "node:module";
import { describe, expect, it } from "vitest";
import { cutPowerOfFile } from "../file-power/cut-power-of-file.mjs";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { deliverOnce } from "./deliver-once.mjs";

const missing = isBuiltin("node:sqlite") ? missingPreload() : "a Node.js with node:sqlite";
const seed = Date.now();
const title = `a power cut of an SQLite file${missing ? `: needs ${missing}` : ""}`;

// It waits for other processes, on whatever machine. kill.test.mjs kills processes with such files.
describe.skipIf(missing !== undefined)(title, { timeout: 300_000 }, () => {
  it("loses no commit that was acknowledged with full durability", async () => {
    const random = new Random(seed);
    const work = { durability: "full", commits: 300, valueBytes: 3_000, cuts: 12, random };
    const { whole, problems } = await cutPowerOfFile("data.sqlite", work);
    expect(problems, `seed ${seed}`).toEqual([]);
    expect(whole).toBe(12);
  });

  it("leaves a prefix of the commits with relaxed durability", async () => {
    const random = new Random(seed);
    const work = { durability: "relaxed", commits: 300, valueBytes: 3_000, cuts: 12, random };
    const cut = { ...work, mayLoseLatest: true };
    const { whole, prefix, problems } = await cutPowerOfFile("data.sqlite", cut);
    expect(problems, `seed ${seed}`).toEqual([]);
    expect(whole + prefix).toBe(12);
  });
});

const hasSqlite = isBuiltin("node:sqlite");
it.skipIf(!hasSqlite)("programs with one file deliver each message once", async () => {
  expect(await deliverOnce(new Random(seed)), `seed ${seed}`).toEqual([]);
});
