import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  type Database,
  defineMigration,
  defineModel,
  migrate,
} from "../../src/index.js";
import { planMigration, verifyIndexes } from "../../src/migrate.js";
import { rejection } from "../user-model.js";

const schema = z.object({ id: z.string(), a: z.string(), b: z.string(), n: z.int().optional() });
const typed = () =>
  defineModel({
    name: "items",
    schema,
    primaryKey: "id",
    indexes: { byA: { key: "a" }, byB: { key: "b" }, byN: { key: "n" } },
  });
type Items = Database<{ items: ReturnType<typeof typed> }>;

/** The types are those of `typed`, for all indexes and schemas. */
function open(on: Kv, indexes: object, changes: object = {}): Promise<Items> {
  const model = defineModel({
    name: "items",
    schema,
    primaryKey: "id",
    indexes,
    ...changes,
  } as never);
  return createDatabase({ kv: on, models: { items: model } }) as unknown as Promise<Items>;
}

const rows = Array.from({ length: 20 }, (_, n) => ({ id: `r${n}`, a: `a${n % 4}`, b: `b${n}` }));

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function openFirst(indexes: object, changes: object = {}): Promise<Items> {
  const db = await open(kv, indexes, changes);
  await db.items.createMany({ data: rows });
  return db;
}

async function idsOf(db: Items, where: object): Promise<string[]> {
  const { items } = await db.items.findMany({ where } as never);
  return items.map(({ id }) => id).sort();
}

async function run(db: Items): Promise<string> {
  return (await migrate(db, { accept: true })).status;
}

async function runUntil(db: Items, phase: string): Promise<string> {
  const stop = new AbortController();
  const { status } = await migrate(db, {
    accept: true,
    signal: stop.signal,
    onProgress: (progress) => progress.phase === phase && stop.abort(),
  });
  return status;
}

async function expectClean(db: Items): Promise<void> {
  expect((await verifyIndexes(db)).status).toBe("clean");
  expect((await planMigration(db)).isEmpty).toBe(true);
}

const ofA1 = ["r1", "r13", "r17", "r5", "r9"];

describe("an index that changes twice", () => {
  it("is still found by the program with the second definition when the third replaces it", async () => {
    await openFirst({ byA: { key: "a" } });
    const second = await open(kv, { byA: { key: ["a", "b"] } });
    expect(await run(second)).toBe("done");
    const third = await open(kv, { byA: { key: ["a", "n"] } });
    const running = run(third);
    for (let isOver = false; !isOver; ) {
      expect(await idsOf(second, { a: "a1" })).toEqual(ofA1);
      await new Promise(setImmediate);
      isOver = (await planMigration(third)).steps.every(({ kind }) => kind === "drop-index");
    }
    expect(await idsOf(second, { a: "a1" })).toEqual(ofA1);
    expect(await second.items.count({ where: { a: "a1" } })).toBe(5);
    expect(await running).toBe("done");
  });
});

describe("the place of an index", () => {
  it("is given up to another index that is declared with its prefix", async () => {
    await openFirst({ byA: { key: "a", prefix: "p" } });
    const db = await open(kv, { byA: { key: "a", prefix: "q" }, byB: { key: "b", prefix: "p" } });
    expect(await run(db)).toBe("done");
    expect(await idsOf(db, { a: "a1" })).toEqual(ofA1);
    expect(await idsOf(db, { b: "b3" })).toEqual(["r3"]);
    await expectClean(db);
  });

  it("is exchanged with another index, also one without entries", async () => {
    await openFirst({ byA: { key: "a", prefix: "p1" }, byN: { key: "n", prefix: "p2" } });
    const db = await open(kv, { byA: { key: "a", prefix: "p2" }, byN: { key: "n", prefix: "p1" } });
    expect(await run(db)).toBe("done");
    expect(await idsOf(db, { a: "a1" })).toEqual(ofA1);
    await expectClean(db);
  });

  it("does not go to an index under its first name while another definition is built", async () => {
    await openFirst({ byA: { key: "a", prefix: "p" } });
    expect(
      await runUntil(await open(kv, { byA: { key: ["a", "b"], prefix: "p" } }), "building"),
    ).toBe("stopped");
    const db = await open(kv, { byX: { key: "a", prefix: "p" } });
    expect((await planMigration(db)).steps.map(({ kind }) => kind)).not.toContain("rename-index");
    expect(await run(db)).toBe("done");
    expect(await idsOf(db, { a: "a1" })).toEqual(ofA1);
    await expectClean(db);
  });
});

describe("a counter of an index that changes", () => {
  it("does not count the groups of the other definition", async () => {
    const old = await openFirst({ byA: { key: "a", count: true } });
    await old.items.create({ data: { id: "d1", a: "a1", b: "b1" } });
    const db = await open(kv, { byA: { key: ["a", "b"], unique: true, count: true } });
    expect(await run(db)).toBe("duplicates");
    for (const program of [old, db])
      expect(await program.items.count({ where: { a: "a1" } })).toBe(6);
    await db.items.delete({ where: { id: "d1" } });
    expect(await old.items.count({ where: { a: "a1" } })).toBe(5);
    expect(await run(db)).toBe("done");
    expect(await old.items.count({ where: { a: "a1" } }).catch(() => 5)).toBe(5);
    expect(await db.items.count({ where: { a: "a1", b: "b1" } } as never)).toBe(1);
    await expectClean(db);
  });
});

describe("a definition that the program cannot compute", () => {
  const before = schema.extend({ a: z.string().optional() });
  const after = schema.omit({ a: true });

  it("is not kept, because its entries would become outdated", async () => {
    const old = await openFirst({ byA: { key: "a", store: "copy" } }, { schema: before });
    const next = await open(kv, { byA: { key: "b" } }, { schema: before });
    expect(await runUntil(next, "building")).toBe("stopped");
    const last = await open(kv, { byA: { key: "b" } }, { schema: after });
    expect(await runUntil(last, "building")).toBe("stopped");
    await last.items.update({ where: { id: "r5" }, data: { b: "new" } } as never);
    await last.items.delete({ where: { id: "r9" } });
    expect(await rejection(idsOf(old, { a: "a1" }))).toMatchObject({ code: "KW_INDEX_CHANGED" });
    expect(await run(last)).toBe("done");
    expect(await idsOf(last, { b: "new" })).toEqual(["r5"]);
    await expectClean(last);
  });
});

describe("a definition whose entries a change of rows affects", () => {
  it("is not read while the values of its rows are exchanged", async () => {
    const count = 600;
    const seats = z.object({ id: z.string(), place: z.int() });
    type Seat = z.output<typeof seats>;
    const labelled = seats.extend({ label: z.string() });
    const model = (of: z.ZodObject, index: object) =>
      defineModel({
        name: "seats",
        schema: of,
        primaryKey: "id",
        indexes: { byPlace: { key: "place", unique: true, ...index } },
      } as never) as never;
    const mirrored = (place: number) => count - 1 - place;
    const exchange = defineMigration({
      model: model(labelled, {}),
      from: seats,
      to: labelled,
      changes: ["place"],
      up: ({ place, ...row }: Seat) => ({ ...row, place: mirrored(place), label: "x" }),
      down: ({ label: _, place, ...row }: Seat & { label: string }) => ({
        ...row,
        place: mirrored(place),
      }),
    } as never) as never;
    const openSeats = (of: z.ZodObject, index: object, migrations: never[] = []) =>
      createDatabase({ kv, models: { seats: model(of, index) }, migrations }) as never as Promise<
        Database<{ seats: ReturnType<typeof seatsModel> }>
      >;
    const seatsModel = () =>
      defineModel({
        name: "seats",
        schema: seats,
        primaryKey: "id",
        indexes: { byPlace: { key: "place", unique: true } },
      });
    const first = await openSeats(seats, {});
    const data = Array.from({ length: count }, (_, n) => ({ id: `s${1000 + n}`, place: n }));
    await first.seats.createMany({ data });
    const stop = new AbortController();
    let batches = 0;
    const { status } = await migrate(await openSeats(labelled, {}, [exchange]), {
      accept: true,
      signal: stop.signal,
      onProgress: ({ phase }) => phase === "transforming" && ++batches === 2 && stop.abort(),
    });
    expect(status).toBe("stopped");
    const back = await openSeats(seats, { include: ["place"] }, [exchange]);
    const building = new AbortController();
    await migrate(back, {
      accept: true,
      signal: building.signal,
      onProgress: ({ phase }) => phase === "building" && building.abort(),
    });
    const found = back.seats.findUnique({ where: { place: 596 } });
    expect(await rejection(found)).toMatchObject({ code: "KW_INDEX_NOT_READY" });
    expect((await migrate(back, { accept: true })).status).toBe("done");
    expect(await back.seats.findUnique({ where: { place: 596 } })).toMatchObject({ id: "s1596" });
    expect((await verifyIndexes(back)).status).toBe("clean");
  });

  it("does not keep values unique that the new definition lets rows share", async () => {
    await openFirst({ byB: { key: "b", unique: true } });
    const next = schema.extend({ label: z.string() });
    const model = defineModel({
      name: "items",
      schema: next,
      primaryKey: "id",
      indexes: { byB: { key: "b" } },
    });
    const merge = defineMigration({
      model,
      from: schema,
      to: next,
      changes: ["b"],
      up: (row) => ({ ...row, b: "same", label: "x" }),
      down: ({ label: _, ...row }) => row,
    });
    const db = await createDatabase({ kv, models: { items: model }, migrations: [merge] });
    expect((await migrate(db, { accept: true })).status).toBe("done");
    expect(await db.items.count({ where: { b: "same" } })).toBe(rows.length);
  });
});

describe("a unique definition that is given up with duplicates", () => {
  const records = async () => {
    let count = 0;
    for await (const _ of kv.list({ prefix: ["__keywright", "duplicates"] })) count++;
    return count;
  };

  it.each([
    ["the first", { key: "a" }],
    ["a third", { key: ["a", "b"] }],
    ["a third that is unique", { key: ["a", "b"], unique: true }],
  ])("leaves no records of them when %s follows", async (_, last) => {
    await openFirst({ byA: { key: "a" } });
    expect(await run(await open(kv, { byA: { key: "a", unique: true } }))).toBe("duplicates");
    const db = await open(kv, { byA: last });
    expect(await run(db)).toBe("done");
    expect(await records()).toBe(0);
    expect(await idsOf(db, { a: "a1" })).toEqual(ofA1);
    await expectClean(db);
  });
});

describe("a unique definition that was replaced by a writer", () => {
  it("keeps its values unique until the next run, and says so", async () => {
    const db = await open(kv, { byB: { key: "b", unique: true } });
    await db.items.createMany({ data: rows.slice(0, 2).map((row) => ({ ...row, a: "x" })) });
    const next = await open(kv, { byB: { key: "a", unique: true } });
    expect(await run(next)).toBe("duplicates");
    await next.items.update({ where: { id: "r1" }, data: { a: "y" } });
    const created = () => next.items.create({ data: { id: "new", a: "z", b: "b1" } });
    expect(await rejection(created())).toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      message: expect.stringMatching(/unique index byB as it was before it changed\); run migrate/),
    });
    const [step] = (await planMigration(next)).steps;
    expect(step?.reason).toContain("Until then, its values stay unique.");
    expect(await run(next)).toBe("done");
    expect(await created()).toMatchObject({ b: "b1" });
  });
});

describe("a change of the primary key that was stopped", () => {
  const changes: Readonly<Record<string, readonly [indexes: object, changes?: object]>> = {
    "changes an index": [{ byA: { key: ["a", "b"] } }],
    "drops an index": [{}],
    "has a new field": [
      { byA: { key: "a" } },
      { schema: schema.extend({ x: z.int().default(1) }) },
    ],
  };

  it.each(Object.entries(changes))(
    "can be given up by a program that %s",
    async (_, [indexes, changed]) => {
      await openFirst({ byA: { key: "a" } });
      const keyed = await open(kv, { byA: { key: "a" } }, { primaryKey: "b" });
      expect(await runUntil(keyed, "building")).toBe("stopped");
      const db = await open(kv, indexes, changed);
      expect(await run(db)).toBe("done");
      expect(await db.items.findUnique({ where: { id: "r5" } })).toMatchObject({ b: "b5" });
      await expectClean(db);
    },
  );
});

describe("a cursor of an index that gets copies of rows", () => {
  it("continues in both programs, before and after the switch", async () => {
    const old = await openFirst({ byA: { key: "a" } });
    const db = await open(kv, { byA: { key: "a", store: "copy" } });
    expect(await runUntil(db, "building")).toBe("stopped");
    const page = async (program: Items, cursor?: string | null) =>
      await program.items.findMany({ where: { a: "a1" }, take: 2, cursor: cursor ?? null });
    const cursors = [await page(old), await page(db)].map(({ cursor }) => cursor);
    for (const program of [old, db]) {
      for (const cursor of cursors) {
        const { items } = await page(program, cursor);
        expect(items.map(({ id }) => id)).toEqual(["r17", "r5"]);
      }
    }
    expect(await run(db)).toBe("done");
    for (const cursor of cursors) expect((await page(db, cursor)).items).toHaveLength(2);
  });
});
