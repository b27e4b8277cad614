import { expect, it } from "vitest";
import type { ReadView } from "../src/state/context/read-view.js";
import { readWithSchema } from "../src/state/rows/read-rows.js";

it("asks once whether the schema of entries is known, and passes the failure on", async () => {
  let asked = 0;
  const view = {
    isChecked: true,
    determinesSchema: async () => {
      asked++;
      throw new Error("the state is too old");
    },
  } as unknown as ReadView;
  await expect(readWithSchema(view, () => [{ versionstamp: null }])).rejects.toThrow("too old");
  expect(asked).toBe(1);
});
