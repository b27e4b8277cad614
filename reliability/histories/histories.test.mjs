import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { faults } from "./faulty-kv.mjs";
import { checkNewHistory, databases } from "./histories.mjs";

const seed = Date.now();
const histories = 50;

describe.each(Object.entries(databases))("the histories of a database %s", (_name, open) => {
  it("are strictly serializable", async () => {
    for (let i = 0; i < histories / 2; i++) {
      const { problems } = await checkNewHistory(open, seed + i);
      expect(problems, `seed ${seed + i}`).toEqual([]);
    }
  });
});

describe("the check of histories", () => {
  it.each(Object.entries(faults))("finds %s", async (_name, faulty) => {
    let found = [];
    for (let i = 0; i < histories && found.length === 0; i++)
      found = (await checkNewHistory(async () => faulty(await openKv()), seed + i)).problems;
    expect(found).not.toEqual([]);
  });
});
