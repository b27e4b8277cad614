import { median, ratio, resultsOf } from "./figures.mjs";

const level = ["keywright-level"];
const relaxed = ["keywright-level-relaxed"];
const best = ["keywright-level", "keywright-lmdb"];

/** What Keywright is to reach: times as fast as another, in one run. */
const goals = [
  goal("get by id, best engine", "byId", best, "drizzle-prepared", 1.3),
  goal("get by unique index, best engine", "byEmail", best, "drizzle-prepared", 1),
  goal("100 rows by index, LevelDB", "byColor", level, "drizzle", 0.45),
  goal("100 rows by index, best engine", "byColor", best, "drizzle", 0.9),
  goal("100 rows by covering index, best engine", "covered", best, "drizzle", 1.5),
  goal("list of 1,000 entries, LevelDB", "entries", level, "raw-level", 1),
  goal("create, LevelDB, `relaxed`", "create, relaxed", relaxed, "drizzle-relaxed", 1),
  goal(
    "update of an indexed field, LevelDB, `relaxed`",
    "changeColor, relaxed",
    relaxed,
    "drizzle-relaxed",
    0.7,
  ),
  goal("create, 64 in flight, LevelDB, `full`", "createTogether, full", level, "deno-kv", 9),
  goal("create, 64 in flight, LevelDB, `full`", "createTogether, full", level, "raw-level", 0.6),
  goal("createMany of 10,000, best engine, `full`", "createMany, full", best, "drizzle", 1),
];

function goal(title, figure, ours, other, least) {
  return { title, figure, ours, other, least };
}

/** Returns each goal with the ratio that was measured. Leaves out what was not measured. */
export function reachedGoals() {
  const figures = resultsOf("cases-10000")?.figures ?? {};
  return goals.flatMap((each) => {
    const rounds = figures[each.figure];
    const theirs = rounds?.[each.other];
    const measured = each.ours.filter((name) => rounds?.[name] !== undefined);
    if (theirs === undefined || measured.length === 0) return [];
    return [{ ...each, reached: Math.max(...measured.map((name) => ratio(rounds[name], theirs))) }];
  });
}

/**
 * How many times as long an operation takes with 1,000,000 users as with 10,000, for each operation
 * and contender that was measured with both.
 */
export function growth() {
  const small = resultsOf("cases-10000")?.figures ?? {};
  const large = resultsOf("cases-1000000")?.figures ?? {};
  return Object.keys(large).map((figure) => ({
    figure,
    factors: Object.fromEntries(
      Object.keys(large[figure])
        .filter((name) => small[figure]?.[name] !== undefined)
        .map((name) => [name, median(large[figure][name]) / median(small[figure][name])]),
    ),
  }));
}
