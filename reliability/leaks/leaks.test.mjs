import { expect, it } from "vitest";
import { AbandonedCalls } from "./abandon.mjs";
import { abandonInRounds } from "./leaks.mjs";
import { growth, measure } from "./measure.mjs";

const count = 30;

it("calls that were abandoned leave nothing", async () => {
  const { problems } = await abandonInRounds(count, (rounds) => rounds === 4);
  expect(problems).toEqual([]);
});

it("the measurement notices what is kept", async () => {
  const calls = await AbandonedCalls.open();
  try {
    const before = await measure(calls);
    const kept = Array.from({ length: count * 30 }, () => new Array(1000).fill(1));
    const timer = setInterval(() => undefined, 1000);
    const names = growth(before, await measure(calls)).map((text) => text.split(" ")[0]);
    clearInterval(timer);
    expect(kept.length).toBe(count * 30);
    expect(names).toEqual(["heap", "resources"]);
  } finally {
    await calls.close();
  }
});
