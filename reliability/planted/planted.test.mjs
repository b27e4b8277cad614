import { expect, it } from "vitest";
import { campaigns } from "./campaigns.mjs";
import { faults } from "./faults/faults.mjs";
import { huntFault } from "./hunt-fault.mjs";

const seed = Date.now() % 1_000_000;

it.each([
  ["stale-version", "calls"],
  ["narrow-sum", "deno"],
])(
  "the fault %s is found by %s",
  async (name, campaign) => {
    expect(faults[name].campaigns).toContain(campaign);
    const { steps, problem } = await huntFault(name, campaign, seed);
    expect(problem, `seed ${seed}`).toBeDefined();
    expect(steps).toBeLessThanOrEqual(campaigns[campaign].most);
  },
  300_000,
);
