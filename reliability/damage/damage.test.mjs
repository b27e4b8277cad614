import { afterAll, beforeAll, expect, it } from "vitest";
import { Random } from "../shared/random.mjs";
import { DamagedDatabase, states } from "./damaged-database.mjs";

const seed = Date.now();
const damages = 34;
let database;

beforeAll(async () => {
  database = await DamagedDatabase.create();
});

afterAll(async () => {
  await database.remove();
});

it.each(states)("damage of a database that is %s hides nothing", async (state) => {
  const outcomes = [];
  for (let i = 0; i < damages; i++) {
    const { outcome, problems } = await database.damage(state, new Random(seed + i));
    expect(problems, `seed ${seed + i}`).toEqual([]);
    outcomes.push(outcome);
  }
  expect(outcomes).toContain("refused");
});
