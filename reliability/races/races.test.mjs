import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { faults } from "./faults.mjs";
import { checkSchedule } from "./races.mjs";

const seed = Date.now() % 1_000_000_000;
const schedules = 2000;

// Handlers of the queue fail on purpose, and the queue prints their errors.
beforeAll(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
});

describe("calls at the same time", () => {
  it("keep the promises of the database in every order of their steps", async () => {
    for (let i = 0; i < schedules; i++) {
      const { name, problems } = await checkSchedule(seed + i);
      expect(problems, `${name}, seed ${seed + i}`).toEqual([]);
    }
  });

  it("have the same order again with the same seed", async () => {
    const wrap = (kv) => faults["a commit that is acknowledged and not made"][1](kv);
    const once = () =>
      Promise.all(Array.from({ length: 10 }, (_, i) => checkSchedule(i, "close", wrap)));
    expect(await once()).toEqual(await once());
  });
});

describe("the checks of races", () => {
  it.each(Object.entries(faults))("find %s", async (_name, [scenario, fault, problem]) => {
    let found = [];
    for (let i = 0; i < 60 && found.length === 0; i++)
      found = (await checkSchedule(i, scenario, fault)).problems;
    expect(found.join()).toMatch(problem);
  });
});
