import { basename } from "node:path";

/**
 * Why no test can notice a change, or need not. An explanation applies to the survivors of a file
 * whose line contains `within`, and whose replacement is `becomes` if that is stated. The results
 * of a run name the file as it was then: `earlierFile`, if its code has moved.
 */
export const explanations = [
  {
    file: "src/state/transaction/pause.ts",
    within: "Math",
    reason: "It changes only how long a pause is.",
  },
  {
    file: "src/state/transaction/buffer/buffered-write.ts",
    within: "const isKept",
    reason: "Of two equal numbers, it does not matter which one is kept.",
  },
  {
    file: "src/state/transaction/commit-buffer.ts",
    within: "ok",
    becomes: "{}",
    reason: "A result without `ok` counts as refused, as `ok: false` does.",
  },
  {
    file: "src/read/plan/plan-query.ts",
    within: "segments",
    reason: "The general way for several segments gives the same plan for one.",
  },
  {
    file: "src/read/plan/choose-plan.ts",
    within: "assertReadable(index)",
    reason: "The reader of the entries makes the same check before each read.",
  },
  {
    file: "src/read/plan/ranges/query-plan.ts",
    earlierFile: "src/query/plan/covered-read.ts",
    within: 'index.store === "pointer"',
    reason: "An index of pointers includes no fields, so that the next condition fails as well.",
  },
  {
    file: "src/read/plan/merge-plans.ts",
    within: "sortKeyOf(plan)?.length",
    reason: "The plans of a merge always have a sort key.",
  },
  {
    file: "src/read/plan/merge-plans.ts",
    within: "if (index === undefined || length === 0) return primaryKey;",
    reason: "It is a short way: without parts to sort by, the last line gives the primary key too.",
  },
  {
    file: "src/read/plan/merge-plans.ts",
    within: "segments[0]?.equals",
    reason: "Each plan of a merge has a segment.",
  },
  {
    file: "src/read/plan/suggest/unindexed-error.ts",
    within: "",
    reason: "It changes only the advice in an error message, for a call that has no name.",
  },
  {
    file: "src/state/transaction/reads/read-set.ts",
    within: "this.#reads.size > 0",
    reason: "Without reads there is nothing to compare, so the verification always succeeds.",
  },
  {
    file: "src/state/transaction/run-transaction.ts",
    within: "{ ok }",
    becomes: "{}",
    reason: "A result without `ok` counts as refused, as `ok: false` does.",
  },
  {
    file: "src/derived/expiry/row-expiry.ts",
    within: "expireAt !== undefined && expireAt",
    reason: "An absent time is not at or below any other, so the comparison refuses it too.",
  },
  {
    file: "src/derived/expiry/row-expiry.ts",
    within: "if (!keepsExpiry",
    reason: "It only saves a read: a database that reports expiry times has no record of them.",
  },
];

/** Returns the reason why a survivor is left, or undefined if nobody has given one. */
export function explain({ file, line, becomes }) {
  return explanations.find(
    (one) =>
      [one.file, one.earlierFile ?? one.file].some((name) => basename(name) === basename(file)) &&
      line.includes(one.within) &&
      (one.becomes === undefined || one.becomes === becomes),
  )?.reason;
}
