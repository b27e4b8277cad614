import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Place = defineModel({
  name: "places",
  schema: z.object({ id: z.string(), n: z.number(), group: z.string() }),
  primaryKey: "id",
  indexes: { byN: { key: "n", unique: true }, byGroup: { key: "group" } },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = () => createDatabase({ kv, models: { places: Place } });
type Places = Awaited<ReturnType<typeof open>>;
type Repository = Pick<Places, "places">;

async function placesOf(numbers: readonly number[]): Promise<Places> {
  const db = await open();
  const data = numbers.map((n, i) => ({ id: `p${i}`, n, group: "a" }));
  await db.places.createMany({ data });
  return db;
}

async function numbersOf(db: Repository): Promise<number[]> {
  return (await db.places.scan()).items.map(({ n }) => n);
}

const where = { group: "a" };

const ways: Readonly<
  Record<string, <T>(db: Places, run: (on: Repository) => Promise<T>) => Promise<T>>
> = {
  "outside a transaction": (db, run) => run(db),
  "within a transaction": (db, run) => db.transaction(run),
};

describe.each(Object.entries(ways))("updateMany with atomic, %s", (_, within) => {
  it.each([[[1, 2, 3]], [[3, 2, 1]], [[2, 1, 3]]])("increments %j", async (numbers) => {
    const db = await placesOf(numbers);
    await within(db, (on) =>
      on.places.updateMany({ where, data: { n: { increment: 1 } }, atomic: true }),
    );
    expect(await numbersOf(db)).toEqual(numbers.map((n) => n + 1));
    for (const n of [2, 3, 4]) expect((await db.places.findUnique({ where: { n } }))?.n).toBe(n);
    expect(await db.places.findUnique({ where: { n: 1 } })).toBeNull();
    await expectIndexesToMatch(kv, Place);
  });

  it("exchanges values by a hook", async () => {
    await placesOf([1, 2, 3]);
    const db: Places = await createDatabase({
      kv,
      models: { places: Place },
      hooks: { places: { beforeUpdate: (_, before) => ({ n: 4 - before.n }) } },
    });
    await within(db, (on) => on.places.updateMany({ where, data: {}, atomic: true }));
    expect(await numbersOf(db)).toEqual([3, 2, 1]);
    await expectIndexesToMatch(kv, Place);
  });

  it("is refused if a row keeps the value, and then writes nothing", async () => {
    await placesOf([1, 2, 3]);
    const db: Places = await createDatabase({
      kv,
      models: { places: Place },
      hooks: { places: { beforeUpdate: (_, before) => ({ n: before.n === 1 ? 2 : before.n }) } },
    });
    const failed = within(db, (on) => on.places.updateMany({ where, data: {}, atomic: true }));
    const error = await rejection(failed);
    expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byN", ownerId: "p1" });
    expect(await numbersOf(db)).toEqual([1, 2, 3]);
    await expectIndexesToMatch(kv, Place);
  });

  it("is refused if the value belongs to a row that is not updated", async () => {
    const db = await placesOf([1, 2]);
    await db.places.create({ data: { id: "q", n: 3, group: "b" } });
    const failed = within(db, (on) =>
      on.places.updateMany({ where, data: { n: { increment: 1 } }, atomic: true }),
    );
    expect(await rejection(failed)).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", ownerId: "q" });
    expect(await numbersOf(db)).toEqual([1, 2, 3]);
    await expectIndexesToMatch(kv, Place);
  });
});
