import { median, ratios, resultsOf } from "./figures.mjs";

const level = ["keywright-level"];
const relaxed = ["keywright-level-relaxed"];
const lmdb = ["keywright-lmdb"];
const best = ["keywright-memory", "keywright-level", "keywright-lmdb", "keywright-sqlite"];
const [built, prepared] = ["drizzle", "drizzle-prepared"];

/** What Keywright is to reach: times as fast as another, in one run. */
const goals = [
  goal("get by id, best engine", "byId", best, prepared, 1.3),
  goal("get by unique index, best engine", "byEmail", best, prepared, 1),
  goal("get by id, LMDB", "byId", lmdb, "lmdb-by-hand", 0.45),
  goal("100 rows by index, best engine", "byColor", best, built, 0.95),
  goal("100 rows by index, best engine", "byColor", best, prepared, 0.65),
  goal("100 rows by index, LMDB", "byColor", lmdb, "lmdb-by-hand", 0.55),
  goal("100 rows by index, LevelDB", "byColor", level, built, 0.4),
  goal("100 rows by covering index, best engine", "covered", best, built, 1),
  goal("100 rows by covering index, best engine", "covered", best, prepared, 0.45),
  goal("a page of 20 rows, best engine", "page", best, built, 1.6),
  goal("a page of 20 rows, best engine", "page", best, prepared, 0.5),
  goal("a page of 20 rows, LevelDB", "page", level, built, 1.1),
  goal("20 rows with 10 children each, best engine", "withPosts", best, built, 0.85),
  goal("20 rows with 10 children each, best engine", "withPosts", best, prepared, 0.8),
  goal("count and sum of each month, best engine", "totals", best, built, 1.5),
  goal("count and sum of each month, best engine", "totals", best, prepared, 0.6),
  goal("list of 1,000 entries, LevelDB", "entries", level, "raw-level", 1),
  goal("create, LevelDB, `full`", "create, full", level, built, 0.95),
  goal("create, LevelDB, `relaxed`", "create, relaxed", relaxed, "drizzle-relaxed", 1),
  goal("create, 64 in flight, LevelDB, `full`", "createTogether, full", level, "deno-kv", 9),
  goal("create, 64 in flight, LevelDB, `full`", "createTogether, full", level, "raw-level", 0.6),
  goal("createMany of 10,000, LevelDB, `full`", "createMany, full", level, built, 1),
  goal(
    "update of an indexed field, LevelDB, `relaxed`",
    "changeColor, relaxed",
    relaxed,
    "drizzle-relaxed",
    0.7,
  ),
];

function goal(title, figure, ours, other, least) {
  return { title, figure, ours, other, least };
}

/**
 * Returns each goal with the ratios of the rounds of our best engine, and their median. Leaves out
 * what was not measured.
 */
export function reachedGoals() {
  const figures = resultsOf("cases-10000")?.figures ?? {};
  return goals.flatMap((each) => {
    const rounds = figures[each.figure];
    const theirs = rounds?.[each.other];
    const measured = each.ours.filter((name) => rounds?.[name] !== undefined);
    if (theirs === undefined || measured.length === 0) return [];
    const [reached] = measured
      .map((name) => ratios(rounds[name], theirs))
      .sort((a, b) => median(b) - median(a));
    return [{ ...each, reached: median(reached), rounds: reached }];
  });
}

/**
 * How many times as long an operation takes with 1,000,000 users as with 10,000, for each operation
 * and contender that was measured with both. Empty if that was on different days, on which the
 * machine may not have been equally fast.
 */
export function growth() {
  const [smaller, larger] = [resultsOf("cases-10000"), resultsOf("cases-1000000")];
  if (smaller?.day !== larger?.day) return [];
  const { figures: small = {} } = smaller ?? {};
  const { figures: large = {} } = larger ?? {};
  return Object.keys(large).map((figure) => ({
    figure,
    factors: Object.fromEntries(
      Object.keys(large[figure])
        .filter((name) => small[figure]?.[name] !== undefined)
        .map((name) => [name, median(large[figure][name]) / median(small[figure][name])]),
    ),
  }));
}
