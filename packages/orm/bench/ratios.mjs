// Compares @keywright/orm with an SQL ORM, with real Deno KV, and with the same work by hand.
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
  built: "Drizzle, statement built each time",
  prepared: "Drizzle, prepared statement",
  deno: "`@deno/kv`, by hand",
  hand: "`@keywright/core`, by hand",
};

/**
 * @returns `ratios`: for each operation the nanoseconds of Keywright (`ours`) and of the other
 *   (`theirs`), their ratio with the range of its middle half, and the goal if there is one;
 *   `validation`: the nanoseconds in which Zod validates one row; `thread`: the nanoseconds of a
 *   round trip to a thread of Node's pool.
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
    // Reads come first, while the databases hold only what was loaded.
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
      "`create`, one at a time, `relaxed`",
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

/** Measures what `validateReads` would add to reading a row. */
function validateUsers() {
  return forUsers((user) => {
    if (!userSchema.safeParse(user).success) throw new Error("a user is not valid");
  });
}

/**
 * Makes the cheapest asynchronous call into native code: the time to get eight random bytes is
 * negligible.
 */
function reachThread() {
  return new Promise((resolve) => randomBytes(8, resolve));
}
