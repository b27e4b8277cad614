import { type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";
import { ToldResults } from "./concurrent-clients.js";
import { denoKv } from "./faulty-kv.js";
import { type AnyThings, ModelSession, stepsFor } from "./model-session.js";
import { PlainTable } from "./plain-table.js";
import { type RandomModel, randomModel } from "./random-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

/** A database of a random model. */
async function openThings(kv: Kv, { model }: RandomModel): Promise<AnyThings> {
  return (await createDatabase({ kv, models: { things: model } })) as unknown as AnyThings;
}

const scripts = randomModel.chain((random) =>
  fc.record({ random: fc.constant(random), steps: stepsFor(random, 30) }),
);

const clients = randomModel
  .filter(({ generatesId }) => !generatesId)
  .chain((random) =>
    fc.record({
      random: fc.constant(random),
      scripts: fc.array(stepsFor(random, 12), { minLength: 2, maxLength: 4 }),
    }),
  );

/** How many random cases each test has. */
interface Runs {
  readonly embedded: number;
  readonly deno: number;
  readonly clients: number;
  readonly changes: number;
}

/** Tests of databases with random models against plain arrays. */
export function describeModels(runs: Runs): void {
  describe.each([
    ["an embedded database", (kv: Kv) => kv, false, runs.embedded],
    ["a database with Deno's interface and limits", denoKv, true, runs.deno],
  ] as const)("on %s", (_name, wrap, isLimited, numRuns) => {
    it("does with random models what a plain array does", async () => {
      await fc.assert(
        fc.asyncProperty(scripts, async ({ random, steps }) => {
          const kv = await openKv();
          try {
            const db = await openThings(wrap(kv), random);
            const plain = new PlainTable(random.model);
            const session = new ModelSession(random, plain, isLimited);
            for (const step of steps) await session.run(db, step);
            expect((await db.things.scan()).items).toEqual(plain.rows);
            await expectIndexesToMatch(kv, random.model);
          } finally {
            await kv.close();
          }
        }),
        { numRuns },
      );
    });
  });

  describe("several clients at once", () => {
    it("leave rows and entries that match, and rows as their last writers were told", async () => {
      await fc.assert(
        fc.asyncProperty(clients, async ({ random, scripts: all }) => {
          const kv = await openKv();
          try {
            const told = new ToldResults(random);
            await Promise.all(
              all.map(async (steps, i) => {
                const db = await openThings(i % 2 === 0 ? kv : denoKv(kv), random);
                await told.run(db, steps);
              }),
            );
            await expectIndexesToMatch(kv, random.model);
            await told.expectIn(kv);
          } finally {
            await kv.close();
          }
        }),
        { numRuns: runs.clients },
      );
    });

    it("lose no change of those that they are told of", async () => {
      const Counter = defineModel({
        name: "counters",
        schema: z.object({
          id: z.int(),
          hits: z.int().default(0),
          log: z.array(z.int()).default([]),
        }),
        primaryKey: "id",
        indexes: { byHits: { key: "hits", count: true }, byLog: { key: "log", each: true } },
        count: true,
      });
      const ids = [0, 1, 2];
      const call = fc.record({
        type: fc.constantFrom("update", "upsert", "many", "atomicMany", "transaction"),
        id: fc.constantFrom(...ids),
      });
      const calls = fc.array(fc.array(call, { maxLength: 8 }), { minLength: 2, maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(calls, async (scripts) => {
          const kv = await openKv();
          try {
            const expected = [0, 0, 0];
            let mark = 0;
            const hit = () => ({ hits: { increment: 1 }, log: { push: mark++ } });
            const db = await createDatabase({ kv, models: { counters: Counter } });
            await db.counters.createMany({ data: ids.map((id) => ({ id })) });
            const runs = scripts.map(async (script, i) => {
              const own = i % 2 === 0 ? kv : denoKv(kv);
              const { counters, transaction } = await createDatabase({
                kv: own,
                models: { counters: Counter },
              });
              for (const { type, id } of script) {
                const where = { id };
                if (type === "many" || type === "atomicMany") {
                  const atomic = type === "atomicMany";
                  const all = {
                    filter: () => true,
                    data: hit(),
                    atomic,
                    select: { id: true },
                  } as const;
                  const { results } = await counters.updateMany(all);
                  for (const result of results) if (result.ok) expected[result.row.id]! += 1;
                  continue;
                }
                if (type === "update") await counters.update({ where, data: hit() });
                else if (type === "upsert") {
                  await counters.upsert({ where, create: { id }, update: hit() });
                } else {
                  await transaction(async (tx) => {
                    const { hits, log } = await tx.counters.findUniqueOrThrow({ where });
                    const data = { hits: hits + 1, log: [...log, mark++] };
                    await tx.counters.update({ where, data });
                  });
                }
                expected[id]! += 1;
              }
            });
            await Promise.all(runs);
            const { items } = await db.counters.scan();
            expect(items.map(({ hits }) => hits)).toEqual(expected);
            expect(items.map(({ log }) => log.length)).toEqual(expected);
            await expectIndexesToMatch(kv, Counter);
          } finally {
            await kv.close();
          }
        }),
        { numRuns: runs.changes },
      );
    });
  });
}
