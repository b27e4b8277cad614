// Compares @keywright/orm with an SQL ORM, real Deno KV, and the same work by hand.
import { randomBytes } from "node:crypto";
import { compare, median, ratioOf } from "./compare.mjs";
import { openDatabases } from "./databases.mjs";
import { userSchema } from "./keywright.mjs";
import {
  changeColors,
  createUsers,
  createUsersTogether,
  findColors,
  findUsers,
  forUsers,
  perCall,
} from "./workload.mjs";

const handGoal = 0.7;
const names = {
  built: "drizzle, built each time",
  prepared: "drizzle, prepared",
  deno: "`@deno/kv`, by hand",
  hand: "`@keywright/core`, by hand",
};

/**
 * @returns `ratios`: for each operation the nanoseconds of ours and theirs, their ratio and its
 * spread, and the goal for the ratio, if there is one; `validation`: the nanoseconds of Zod for one
 * row; `thread`: those of a round trip to a thread of Node's pool.
 */
export async function measureRatios(folder, effort) {
  const databases = await openDatabases(folder);
  const { orm, hand, deno, built, prepared } = databases;
  const relaxed = { ours: orm.relaxed, built, prepared, hand: hand.relaxed };
  const together = { ours: orm.full, deno, hand: hand.full };
  const ratios = [];
  const measureEach = async (operation, contestants, goals, makeBenchmark, operations) => {
    const benchmarks = Object.fromEntries(
      ["ours", ...Object.keys(goals)].map((name) => [name, makeBenchmark(contestants[name])]),
    );
    const { ours, ...theirs } = await compare(benchmarks, effort, operations);
    for (const [name, times] of Object.entries(theirs)) {
      const figures = { ours: median(ours), theirs: median(times), ...ratioOf(ours, times) };
      ratios.push({ operation, against: names[name], ...figures, goal: goals[name] });
    }
  };
  try {
    // The reads first: they find what was loaded, and nothing else.
    await measureEach(
      "`findUnique` by id",
      relaxed,
      { prepared: 0.7, built: 7, hand: handGoal },
      ({ findById }) => findUsers(findById, "id"),
      perCall.one,
    );
    await measureEach(
      "`findUnique` by unique index",
      relaxed,
      { prepared: 0.5, built: undefined, hand: handGoal },
      ({ findByEmail }) => findUsers(findByEmail, "email"),
      perCall.one,
    );
    await measureEach(
      "`findMany`, 100 rows by index",
      relaxed,
      { built: 0.33, prepared: undefined, hand: handGoal },
      ({ findByColor }) => findColors(findByColor),
      perCall.page,
    );
    const besides = { validation: validateUsers(), thread: forUsers(reachThread) };
    const { validation, thread } = await compare(besides, effort, perCall.one);
    await measureEach(
      "`update` of an indexed field, `relaxed`",
      relaxed,
      { built: 0.7, prepared: undefined, hand: handGoal },
      ({ changeColor }) => changeColors(changeColor),
      perCall.one,
    );
    await measureEach(
      "`create`, one after another, `relaxed`",
      relaxed,
      { built: 1, prepared: undefined, hand: handGoal },
      ({ create }) => createUsers(create),
      perCall.one,
    );
    await measureEach(
      "`create`, 64 in flight, `full`",
      together,
      { deno: 5, hand: handGoal },
      ({ create }) => createUsersTogether(create),
      perCall.inFlight,
    );
    return { ratios, validation: median(validation), thread: median(thread) };
  } finally {
    await databases.close();
  }
}

/** What it would cost to validate a stored row each time it is read. */
function validateUsers() {
  return forUsers((user) => {
    if (!userSchema.safeParse(user).success) throw new Error("a user is not valid");
  });
}

/** The least that an asynchronous call into native code costs: eight random bytes take no time. */
function reachThread() {
  return new Promise((resolve) => randomBytes(8, resolve));
}
