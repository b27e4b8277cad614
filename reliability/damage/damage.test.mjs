import { afterAll, beforeAll, expect, it } from "vitest";
import { Random } from "../shared/random.mjs";
import { DamagedDatabase, states } from "./damaged-database.mjs";

const seed = Date.now();
/** How often a database is damaged in each state. A rescue takes much longer than a check. */
const damages = { closed: 17, open: 15, killed: 15, rescued: 3 };
let database;

beforeAll(async () => {
  database = await DamagedDatabase.create();
});

afterAll(async () => {
  await database.remove();
});

it.each(states)("damage of a database that is %s hides nothing", async (state) => {
  const outcomes = [];
  // Some damage has no effect, also several times in a row.
  const isEnough = (i) => i >= damages[state] && outcomes.includes("reported");
  for (let i = 0; !isEnough(i) && i < damages[state] + 30; i++) {
    const { outcome, problems } = await database.damage(state, new Random(seed + i));
    expect(problems, `seed ${seed + i}`).toEqual([]);
    outcomes.push(outcome);
  }
  expect(outcomes).toContain("reported");
});
