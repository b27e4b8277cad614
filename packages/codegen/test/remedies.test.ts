import { IndexNotReadyError } from "@keywright/orm";
import { expect, it } from "vitest";
import { remedyFor } from "../src/cli/terminal/text/remedies.js";

it.each([
  ["write-only", /^Migrate first:\n {2}npx keywright migrate run$/],
  [
    "unique-pending",
    /^Rows share values of .*:\n {2}npx keywright migrate status --duplicates a\.byB\n/,
  ],
] as const)("what to do about an index that is %s goes by that", (state, expected) => {
  expect(remedyFor(new IndexNotReadyError("a", "byB", state))).toMatch(expected);
});

it("says nothing of what it does not know", () => {
  const unknown = Object.assign(new Error("none"), { code: "toString" });
  expect(remedyFor(unknown)).toBeUndefined();
});
