import { type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDatabase } from "../src/index.js";
import { denoKv } from "./faulty-kv.js";
import { type AnyThings, ModelSession, stepsFor } from "./model-session.js";
import { PlainTable } from "./plain-table.js";
import { type RandomModel, randomModel } from "./random-model.js";
import { expectIndexesToMatch, indexMismatches } from "./verify-indexes.js";

/** A database of a random model. */
async function openThings(kv: Kv, { model }: RandomModel): Promise<AnyThings> {
  return (await createDatabase({ kv, models: { things: model } })) as unknown as AnyThings;
}

const scripts = randomModel.chain((random) =>
  fc.record({ random: fc.constant(random), steps: stepsFor(random, 25) }),
);

describe.each([
  ["an embedded database", (kv: Kv) => kv, 150],
  ["a database with Deno's interface and limits", denoKv, 60],
] as const)("on %s", (_name, wrap, numRuns) => {
  it("does with random models what a plain array does", async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async ({ random, steps }) => {
        const kv = await openKv();
        try {
          const db = await openThings(wrap(kv), random);
          const plain = new PlainTable(random.model);
          const session = new ModelSession(random, plain);
          for (const step of steps) await session.run(db, step);
          expect((await db.things.scan()).items).toEqual(plain.rows);
          await expectIndexesToMatch(kv, random.model);
        } finally {
          await kv.close();
        }
      }),
      { numRuns },
    );
  }, 120_000);
});
void indexMismatches;
