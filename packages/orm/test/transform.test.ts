import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, type MigrationProgress, migrate } from "../src/index.js";
import { findFailedRows, previewMigration } from "../src/migrate.js";
import { yieldToEventLoop } from "../src/promises/yield-to-event-loop.js";
import { defineMigration } from "../src/state/schema/define-migration.js";
import { denoKv, interferingKv } from "./faulty-kv.js";
import { openDenoKv } from "./open-deno-kv.js";
import {
  beginTransform,
  contextOf,
  fillOld,
  Member,
  memberId,
  newMember,
  OldMember,
  oldMember,
  openNew,
  openOld,
  ownKeys,
  renameName,
  runTransform,
} from "./transform-models.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** The rows as they are stored. */
async function storedRows(on: Kv = kv, prefix = "members"): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const { value } of on.list({ prefix: [prefix] })) rows.push(value);
  return rows;
}

const newMembers = (count: number) => Array.from({ length: count }, (_, i) => newMember(i));

/**
 * A database with rows of the old program, opened by the new one, which has begun to change them.
 */
async function begun(count: number, on: Kv = kv) {
  await fillOld(on, count);
  const db = await openNew(on);
  const context = contextOf(db, "members");
  await beginTransform(context);
  return { db, context };
}

/** Changes rows until so many of them are done. */
async function runUntil(context: ReturnType<typeof contextOf>, rows: number): Promise<void> {
  const stop = new AbortController();
  const onProgress = ({ phase, done }: MigrationProgress) => {
    if (phase === "transforming" && done >= rows) stop.abort();
  };
  expect(await runTransform(context, { signal: stop.signal, onProgress })).toBe("stopped");
}

describe("transformRows", () => {
  it("writes every row as what it becomes, with its entries and counts, and ends the change", async () => {
    const { context } = await begun(25);
    expect(await runTransform(context)).toBe("done");
    expect(await storedRows()).toEqual(newMembers(25));
    await expectIndexesToMatch(kv, Member);
    expect(context.catalog.snapshot.entry.transform).toBe(undefined);
    const { manifest } = context.catalog.programRows;
    const old = contextOf(await openOld(await openKv()), "members").catalog.programRows.manifest;
    expect(await ownKeys(kv)).toEqual(
      expect.arrayContaining([
        ["__keywright", "catalog", "members"],
        ["__keywright", "schema", "members", manifest.hash],
        ["__keywright", "schema", "members", old.hash],
      ]),
    );
    const kinds = new Set((await ownKeys(kv)).map((key) => (key as string[])[1]));
    expect([...kinds].sort()).toEqual(["catalog", "count", "schema"]);
  });

  it("has nothing to do where no change is under way", async () => {
    await fillOld(kv, 3);
    expect(await runTransform(contextOf(await openOld(kv), "members"))).toBe("done");
    expect(await storedRows()).toEqual([0, 1, 2].map(oldMember));
  });

  it("reports its progress, in batches", async () => {
    const { context } = await begun(25);
    const progress: MigrationProgress[] = [];
    await runTransform(context, { onProgress: (report) => progress.push(report) });
    expect(progress.map(({ phase, done, total }) => [phase, done, total])).toEqual([
      ["counting", 25, undefined],
      ["transforming", 0, 25],
      ["transforming", 10, 25],
      ["transforming", 20, 25],
      ["transforming", 25, 25],
    ]);
    expect(progress[0]).toMatchObject({ model: "members", indexes: [] });
  });

  it("stops behind the batch in hand, and continues there", async () => {
    const { context } = await begun(25);
    await runUntil(context, 10);
    const rows = await storedRows();
    expect(rows.slice(0, 10)).toEqual(newMembers(10));
    expect(rows.slice(10)).toEqual(Array.from({ length: 15 }, (_, i) => oldMember(10 + i)));
    const progress: number[] = [];
    const later = contextOf(await openNew(kv), "members");
    await runTransform(later, { onProgress: ({ done }) => progress.push(done) });
    expect(progress).toEqual([10, 20, 25]);
    expect(await storedRows()).toEqual(newMembers(25));
    await expectIndexesToMatch(kv, Member);
  });

  it("reads no more rows at a time than the bound on rows a second has it", async () => {
    const { context } = await begun(8);
    const progress: number[] = [];
    const onProgress = ({ phase, done }: MigrationProgress) => {
      if (phase === "transforming") progress.push(done);
    };
    await runTransform(context, { rowsPerSecond: 16, onProgress });
    expect(progress).toEqual([0, 4, 8]);
  });

  it("passes over what stands under a row's key", async () => {
    const { context } = await begun(3);
    await kv.set(["members", memberId(1), "settings"], { name: "no row" });
    expect(await runTransform(context)).toBe("done");
    expect((await kv.get(["members", memberId(1), "settings"])).value).toEqual({ name: "no row" });
    await kv.delete(["members", memberId(1), "settings"]);
    expect(await storedRows()).toEqual(newMembers(3));
  });

  it("changes an indexed field's type, and moves the entries", async () => {
    const schema = z.object({ id: z.string(), age: z.string() });
    const fields = {
      name: "people",
      primaryKey: "id",
      indexes: { byAge: { key: "age" } },
    } as const;
    const Old = defineModel({ ...fields, schema });
    const New = defineModel({ ...fields, schema: schema.extend({ age: z.int() }) });
    const old = await createDatabase({ kv, models: { people: Old } });
    for (let i = 0; i < 30; i++) await old.people.create({ data: { id: `${i}`, age: `${i % 5}` } });
    const up = (row: z.output<typeof schema>) => ({ ...row, age: Number(row.age) });
    const migrations = [defineMigration({ model: New, from: schema, to: New.schema, up })];
    const db = await createDatabase({ kv, models: { people: New }, migrations });
    await beginTransform(contextOf(db, "people"));
    expect(await runTransform(contextOf(db, "people"))).toBe("done");
    await expectIndexesToMatch(kv, New);
    expect(await db.people.count({ where: { age: { gte: 3 } } })).toBe(12);
  });

  it("fills in defaults without a migration of the user's", async () => {
    const schema = z.object({ id: z.string(), name: z.string() });
    const Old = defineModel({ name: "people", schema, primaryKey: "id" });
    const level = z.int().default(1);
    const New = defineModel({ name: "people", schema: schema.extend({ level }), primaryKey: "id" });
    const old = await createDatabase({ kv, models: { people: Old } });
    await old.people.create({ data: { id: "a", name: "Ada" } });
    const db = await createDatabase({ kv, models: { people: New } });
    await beginTransform(contextOf(db, "people"));
    expect(await db.people.findUnique({ where: { id: "a" } })).toEqual({
      id: "a",
      name: "Ada",
      level: 1,
    });
    expect(await storedRows(kv, "people")).toEqual([{ id: "a", name: "Ada" }]);
    expect(await runTransform(contextOf(db, "people"))).toBe("done");
    expect(await storedRows(kv, "people")).toEqual([{ id: "a", name: "Ada", level: 1 }]);
  });
});

describe("while rows are being changed", () => {
  it("the new program sees new rows only, from the first moment", async () => {
    const { db, context } = await begun(30);
    for (const rows of [0, 10]) {
      if (rows > 0) await runUntil(context, rows);
      expect((await storedRows()).at(-1)).toEqual(oldMember(29));
      expect(await db.members.findUnique({ where: { id: memberId(29) } })).toEqual(newMember(29));
      const byEmail = { where: { email: "m29@example.com" } };
      expect(await db.members.findUnique(byEmail)).toEqual(newMember(29));
      expect((await db.members.findMany({ ...byEmail, index: "byEmailCopy" })).items).toEqual([
        newMember(29),
      ]);
      expect((await db.members.scan({ take: 1000 })).items).toEqual(newMembers(30));
    }
  });

  it("a row that the new program writes is of the new schema, and is not changed again", async () => {
    const { db, context } = await begun(30);
    await runUntil(context, 10);
    for (const i of [3, 29]) {
      await db.members.update({ where: { id: memberId(i) }, data: { closed: true } });
    }
    const created = { ...newMember(40), visits: 50 };
    await db.members.create({ data: created });
    await db.members.delete({ where: { id: memberId(28) } });
    expect((await storedRows()).slice(-2)).toEqual([{ ...newMember(29), closed: true }, created]);
    expect(await runTransform(context)).toBe("done");
    const rows: unknown[] = newMembers(30).map((row, i) =>
      i === 3 || i === 29 ? { ...row, closed: true } : row,
    );
    rows.splice(28, 1);
    expect(await storedRows()).toEqual([...rows, created]);
    await expectIndexesToMatch(kv, Member);
  });

  it("an old program's write is refused, and it damages nothing", async () => {
    await fillOld(kv, 3);
    const old = await openOld(kv);
    const { context } = await begun(0);
    const stale = { code: "KW_STALE_SCHEMA", model: "members" };
    const where = { id: memberId(1) };
    const data = { visits: 9 };
    expect(await rejection(old.members.update({ where, data }))).toMatchObject(stale);
    expect(await rejection(old.members.create({ data: oldMember(7) }))).toMatchObject(stale);
    expect(await runTransform(context)).toBe("done");
    expect(await rejection(old.members.update({ where, data }))).toMatchObject(stale);
    expect(await rejection((await openOld(kv)).members.delete({ where }))).toMatchObject(stale);
    expect(await storedRows()).toEqual(newMembers(3));
    await expectIndexesToMatch(kv, Member);
  });

  it("a writer that changes a row before each commit loses nothing", async () => {
    const { db: writer, context } = await begun(30);
    let turns = 0;
    const interfere = async () => {
      const where = { id: memberId((turns++ * 7) % 30) };
      await writer.members.update({ where, data: { visits: { increment: 10 } } });
    };
    const interfered = { ...context, kv: interferingKv(kv, interfere) };
    expect(await runTransform(interfered)).toBe("done");
    const expected = newMembers(30).map(({ visits }) => visits);
    for (let turn = 0; turn < turns; turn++) expected[(turn * 7) % 30]! += 10;
    const rows = (await storedRows()) as { visits: number }[];
    expect(rows.map(({ visits }) => visits)).toEqual(expected);
    await expectIndexesToMatch(kv, Member);
  });

  it("many writers at once lose nothing, and see no error", async () => {
    const { db, context } = await begun(200);
    const expected = newMembers(200).map(({ visits }) => visits);
    let isOver = false;
    const write = async (seed: number) => {
      for (let turn = seed; !isOver; turn += 16) {
        const i = (turn * 97) % 200;
        await db.members.update({
          where: { id: memberId(i) },
          data: { visits: { increment: 10 } },
        });
        expected[i]! += 10;
        await yieldToEventLoop();
      }
    };
    const writers = Array.from({ length: 16 }, (_, seed) => write(seed));
    try {
      expect(await runTransform(context)).toBe("done");
    } finally {
      isOver = true;
    }
    await Promise.all(writers);
    const rows = (await storedRows()) as { visits: number }[];
    expect(rows.map(({ visits }) => visits)).toEqual(expected);
    await expectIndexesToMatch(kv, Member);
  });

  it("a row that cannot be brought up is named by the read", async () => {
    await fillOld(kv, 2);
    const old = await openOld(kv);
    await old.members.update({ where: { id: memberId(1) }, data: { name: "nobody" } });
    const { db } = await begun(0);
    const read = db.members.findUnique({ where: { id: memberId(1) } });
    expect(await rejection(read)).toMatchObject({
      code: "KW_ROW_UPGRADE",
      model: "members",
      rowId: memberId(1),
      reason: "nobody has no full name",
    });
  });
});

describe("a row that cannot be changed", () => {
  /** Rows of which some are called so, some have no name at all, and one is not even an object. */
  async function withFailures() {
    await fillOld(kv, 30);
    const old = await openOld(kv);
    for (const i of [1, 26]) {
      await old.members.update({ where: { id: memberId(i) }, data: { name: "nobody" } });
    }
    await old.members.update({ where: { id: memberId(2) }, data: { name: "" } });
    await kv.set(["members", "x by hand"], "no row");
    return await begun(0);
  }

  it("stays as it is and is recorded with the reason, and the others are changed", async () => {
    const { db, context } = await withFailures();
    expect(await runTransform(context)).toBe("failed-rows");
    const rows = await storedRows();
    const failed = [1, 2, 26, 30];
    for (const [i, row] of rows.entries()) {
      if (!failed.includes(i)) expect(row).toEqual(newMember(i));
    }
    expect(rows[1]).toEqual({ ...oldMember(1), name: "nobody" });
    expect(rows[2]).toEqual({ ...oldMember(2), name: "" });
    expect(await findFailedRows(db, { model: "members" })).toEqual({
      items: [
        {
          model: "members",
          id: memberId(1),
          reason: "nobody has no full name",
          issues: [],
        },
        {
          model: "members",
          id: memberId(2),
          reason: expect.stringContaining("fullName"),
          issues: [expect.objectContaining({ path: ["fullName"], code: "too_small" })],
        },
        {
          model: "members",
          id: memberId(26),
          reason: "nobody has no full name",
          issues: [],
        },
        {
          model: "members",
          id: "x by hand",
          reason: expect.stringContaining("not an object"),
          issues: [],
        },
      ],
      cursor: null,
    });
  });

  it("does not keep the change open where it is deleted or written before all rows are read", async () => {
    const { db, context } = await withFailures();
    let isOver = false;
    const interfere = async () => {
      const { items } = await findFailedRows(db, { model: "members" });
      if (isOver || items.length < 4) return;
      isOver = true;
      for (const { id } of items.slice(0, 3))
        await db.members.delete({ where: { id: String(id) } });
      await kv.delete(["members", "x by hand"]);
      await db.members.create({ data: newMember(2) });
    };
    const interfered = { ...context, kv: interferingKv(kv, interfere) };
    expect(await runTransform(interfered)).toBe("done");
    expect(isOver).toBe(true);
    expect(context.catalog.snapshot.entry.transform).toBe(undefined);
    expect(await storedRows()).toEqual(
      newMembers(30).filter((row) => row.id !== memberId(1) && row.id !== memberId(26)),
    );
    await expectIndexesToMatch(kv, Member, ["byEmail", "byVisits", "byEmailCopy"]);
  });

  it("is told by the status of the run also where it is gone before it is listed", async () => {
    const old = await openOld(kv);
    await old.members.create({ data: { ...oldMember(1), name: "nobody" } });
    let lists = 0;
    const busy = new Proxy(kv, {
      get(target, property) {
        if (property === "list") {
          return async function* (...given: Parameters<Kv["list"]>) {
            const [selector] = given;
            const isOfFailures = "prefix" in selector && selector.prefix[1] === "failed";
            // What is left of another change, the second try, and then the report.
            if (isOfFailures && ++lists === 3) await target.delete(["members", memberId(1)]);
            yield* target.list(...given);
          };
        }
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    expect(await migrate(await openNew(busy))).toMatchObject({ status: "failed-rows", failed: [] });
    expect((await migrate(await openNew(kv))).status).toBe("done");
  });

  it("can be deleted, also where it is no row at all", async () => {
    const { db, context } = await withFailures();
    const where = { id: "x by hand" };
    expect(await db.members.delete({ where })).toEqual(where);
    expect(await db.members.findUnique({ where })).toBe(null);
    await runTransform(context);
    await kv.set(["members", where.id], null);
    expect(await db.members.delete({ where })).toEqual(where);
    expect(await rejection(db.members.delete({ where }))).toMatchObject({
      code: "KW_ROW_NOT_FOUND",
    });
  });

  it("is listed in pages", async () => {
    const { db, context } = await withFailures();
    await runTransform(context);
    for (const take of [1, 2, 3, 4, 5]) {
      const ids: unknown[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof findFailedRows>> = await findFailedRows(db, {
          model: "members",
          take,
          cursor,
        });
        expect(page.items.length).toBeLessThanOrEqual(take);
        ids.push(...page.items.map(({ id }) => id));
        ({ cursor } = page);
      } while (cursor !== null);
      expect(ids).toEqual([memberId(1), memberId(2), memberId(26), "x by hand"]);
    }
    expect(await rejection(findFailedRows(db, { model: "members", take: 0 }))).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "take",
    });
    const foreign = await rejection(findFailedRows(db, { model: "members", cursor: "no cursor" }));
    expect(foreign).toMatchObject({ code: "KW_CURSOR_INVALID", cursor: "no cursor" });
  });

  it("is listed no more when it is gone or was written, and a better migration ends the change", async () => {
    const { db, context } = await withFailures();
    await runTransform(context);
    await kv.delete(["members", "x by hand"]);
    await kv.set(["members", memberId(2)], newMember(2));
    const ids = async () =>
      (await findFailedRows(db, { model: "members" })).items.map(({ id }) => id);
    expect(await ids()).toEqual([memberId(1), memberId(26)]);
    expect(await runTransform(context)).toBe("failed-rows");
    expect(await ids()).toEqual([memberId(1), memberId(26)]);
    const better = defineMigration({
      model: Member,
      from: OldMember.schema,
      to: Member.schema,
      changes: ["visits"],
      up: ({ name, ...row }) => ({
        ...row,
        fullName: `${name}!`,
        visits: row.visits + 1,
        closed: true,
      }),
    });
    const models = { members: Member };
    const later = await createDatabase({ kv, models, migrations: [better] });
    expect(await runTransform(contextOf(later, "members"))).toBe("done");
    expect(await storedRows()).toEqual(
      newMembers(30).map((row, i) =>
        i === 1 || i === 26 ? { ...row, fullName: "nobody!", closed: true } : row,
      ),
    );
    // One of the rows was written by hand: its entries in the others are those of the row before.
    await expectIndexesToMatch(kv, Member, ["byEmail"]);
    const kinds = new Set((await ownKeys(kv)).map((key) => (key as string[])[1]));
    expect([...kinds].sort()).toEqual(["catalog", "count", "schema"]);
  });

  it("for what it would hold cannot be stored, does not keep the others from being changed", async () => {
    const schema = z.object({ id: z.string() });
    const Old = defineModel({ name: "things", schema, primaryKey: "id" });
    const New = defineModel({
      name: "things",
      schema: schema.extend({ extra: z.unknown().optional() }),
      primaryKey: "id",
    });
    const migration = defineMigration({
      model: New,
      from: schema,
      to: New.schema,
      up: ({ id }) => ({ id, extra: Number(id.slice(1)) % 7 === 3 ? () => id : id }),
    });
    const old = await createDatabase({ kv, models: { things: Old } });
    const ids = Array.from({ length: 25 }, (_, i) => ({ id: memberId(i) }));
    await old.things.createMany({ data: ids });
    const db = await createDatabase({ kv, models: { things: New }, migrations: [migration] });
    const context = contextOf(db, "things");
    await beginTransform(context);
    expect(await runTransform(context)).toBe("failed-rows");
    const { items } = await findFailedRows(db, { model: "things" });
    expect(items.map(({ id }) => id)).toEqual([3, 10, 17, 24].map(memberId));
    expect(await storedRows(kv, "things")).toEqual(
      ids.map(({ id }, i) => (i % 7 === 3 ? { id } : { id, extra: id })),
    );
  });
});

describe("a row that an index cannot hold", () => {
  const schema = z.object({ id: z.string(), label: z.string() });
  const normalize = (label: string): string => {
    if (label === "!") throw new Error("no label");
    return label === "?" ? ({ not: "a key" } as never) : label;
  };
  const fields = {
    name: "notes",
    primaryKey: "id",
    indexes: { byLabel: { key: "label", normalize } },
  } as const;
  const Old = defineModel({ ...fields, schema });
  const New = defineModel({ ...fields, schema: schema.extend({ size: z.int() }) });
  const migration = defineMigration({
    model: New,
    from: schema,
    to: New.schema,
    changes: ["label"],
    up: ({ id }) => ({ id, size: 1, label: { b: "?", c: "!" }[id] ?? "good" }),
  });

  it("is recorded with the field, the type and what a function threw", async () => {
    const old = await createDatabase({ kv, models: { notes: Old } });
    await old.notes.createMany({
      data: [
        { id: "a", label: "good" },
        { id: "b", label: "good" },
        { id: "c", label: "good" },
      ],
    });
    const db = await createDatabase({ kv, models: { notes: New }, migrations: [migration] });
    const context = contextOf(db, "notes");
    await beginTransform(context);
    const reasons = [
      ["b", 'The index byLabel cannot hold "label" of type string.'],
      ["c", 'The index byLabel cannot hold "label" of type string: no label.'],
    ];
    const previewed = await previewMigration(db, { model: "notes" });
    expect(previewed.flatMap((row) => ("reason" in row ? [[row.id, row.reason]] : []))).toEqual(
      reasons,
    );
    expect(await runTransform(context)).toBe("failed-rows");
    const { items } = await findFailedRows(db, { model: "notes" });
    expect(items.map(({ id, reason }) => [id, reason])).toEqual(reasons);
  });
});

describe("unique values", () => {
  const schema = z.object({ id: z.string(), place: z.int(), label: z.string().optional() });
  const fields = {
    name: "seats",
    primaryKey: "id",
    indexes: { byPlace: { key: "place", unique: true } },
  } as const;
  const Old = defineModel({ ...fields, schema: schema.omit({ label: true }) });
  const Seat = defineModel({ ...fields, schema: schema.extend({ label: z.string() }) });

  /** Seats with these places, to be moved. */
  async function seats(places: readonly number[], move: (place: number) => number, on: Kv = kv) {
    const old = await createDatabase({ kv: on, models: { seats: Old } });
    for (const [i, place] of places.entries()) {
      await old.seats.create({ data: { id: memberId(i), place } });
    }
    const migration = defineMigration({
      model: Seat,
      from: Old.schema,
      to: Seat.schema,
      changes: ["place"],
      up: (row) => ({ ...row, place: move(row.place), label: `seat ${row.place}` }),
    });
    const models = { seats: Seat };
    const db = await createDatabase({ kv: on, models, migrations: [migration] });
    const context = contextOf(db, "seats");
    await beginTransform(context);
    return { db, context };
  }

  it.each([
    ["are passed on to the next row", (place: number) => place + 1],
    ["are passed on to the row before", (place: number) => place - 1],
    ["are exchanged", (place: number) => 39 - place],
    ["go round", (place: number) => (place + 7) % 40],
  ])("%s", async (_, move) => {
    const places = Array.from({ length: 40 }, (_, i) => i);
    const { context } = await seats(places, move);
    expect(await runTransform(context)).toBe("done");
    await expectIndexesToMatch(kv, Seat);
    const rows = (await storedRows(kv, "seats")) as { place: number }[];
    expect(rows.map(({ place }) => place)).toEqual(places.map(move));
  });

  it("that two rows would have are the first one's, and the other row fails", async () => {
    const { db, context } = await seats([1, 2, 3, 11, 12], (place) => place % 10);
    expect(await runTransform(context)).toBe("failed-rows");
    const { items } = await findFailedRows(db, { model: "seats" });
    expect(items.map(({ id, reason }) => [id, reason])).toEqual([
      [memberId(3), `The row "${memberId(0)}" has the same value of the unique index byPlace.`],
      [memberId(4), `The row "${memberId(1)}" has the same value of the unique index byPlace.`],
    ]);
    expect(await runTransform(context)).toBe("failed-rows");
    await db.seats.delete({ where: { id: memberId(0) } });
    await db.seats.update({ where: { id: memberId(1) }, data: { place: 20 } });
    expect(await runTransform(context)).toBe("done");
    await expectIndexesToMatch(kv, Seat);
    const rows = (await storedRows(kv, "seats")) as { place: number }[];
    expect(rows.map(({ place }) => place)).toEqual([20, 3, 1, 2]);
  });

  it("that a writer takes just before the commit are the writer's", async () => {
    const { db, context } = await seats([107, 2], (place) => place % 100);
    let commits = 0;
    const interfere = async () => {
      // The first commit takes the lease.
      if (++commits !== 2) return;
      await db.seats.create({ data: { id: "z", place: 7, label: "mine" } });
    };
    const interfered = { ...context, kv: interferingKv(kv, interfere) };
    expect(await runTransform(interfered)).toBe("failed-rows");
    expect((await findFailedRows(db, { model: "seats" })).items.map(({ id }) => id)).toEqual([
      memberId(0),
    ]);
    expect(await storedRows(kv, "seats")).toEqual([
      { id: memberId(0), place: 107 },
      { id: memberId(1), place: 2, label: "seat 2" },
      { id: "z", place: 7, label: "mine" },
    ]);
    await db.seats.update({ where: { id: "z" }, data: { place: 8 } });
    expect(await runTransform(context)).toBe("done");
    await expectIndexesToMatch(kv, Seat);
  });

  it("that another row is to get are refused", async () => {
    const { db, context } = await seats([101, 2, 103], (place) => place % 100);
    const catalogKey = ["__keywright", "catalog", "seats"];
    const { value: catalog } = await kv.get<{ indexes: { byPlace: object } }>(catalogKey);
    const byPlace = { ...catalog?.indexes.byPlace, state: "unique-pending" };
    await kv.set(catalogKey, { ...catalog, indexes: { byPlace } });
    // A third row has the value 1 since before the index, and is still to get its entry.
    await kv.set(["seats", memberId(9)], { id: memberId(9), place: 1, label: "kept" });
    const duplicate = {
      model: "seats",
      index: "byPlace",
      value: [1],
      primaryKey: [memberId(9)],
    };
    await kv.set(["__keywright", "duplicates", "seats", "byPlace", 1, memberId(9)], duplicate);
    expect(await runTransform(context)).toBe("failed-rows");
    const { items } = await findFailedRows(db, { model: "seats" });
    const reason = `The row "${memberId(9)}" has the same value of the unique index byPlace.`;
    expect(items.map((item) => [item.id, item.reason])).toEqual([[memberId(0), reason]]);
  });

  it("are moved within the limits of Deno KV too", async () => {
    const places = Array.from({ length: 23 }, (_, i) => i);
    const { context } = await seats(places, (place) => 22 - place, denoKv(kv));
    expect(await runTransform(context)).toBe("done");
    await expectIndexesToMatch(kv, Seat);
  });
});

describe.each([
  ["in memory", () => openKv()],
  ["in Deno's mode", () => openKv(":memory:", { compat: "deno" })],
  ["with Deno's interface and no more", async () => denoKv(await openKv())],
  ["@deno/kv", openDenoKv],
] as [string, () => Promise<Kv>][])("on a database %s", (_, open) => {
  it("rows are changed, and those that expire keep their time", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const on = await open();
    try {
      const fields = {
        name: "members",
        primaryKey: "id",
        indexes: { byEmail: { key: "email", unique: true }, byVisits: { key: "visits" } },
      } as const;
      const Old = defineModel({ ...fields, schema: OldMember.schema });
      const New = defineModel({ ...fields, schema: Member.schema });
      const old = await createDatabase({ kv: on, models: { members: Old } });
      const hour = 3_600_000;
      await old.members.create({ data: oldMember(0), expireIn: hour });
      for (let i = 1; i < 25; i++) await old.members.create({ data: oldMember(i) });
      const models = { members: New };
      const db = await createDatabase({ kv: on, models, migrations: [renameName] });
      const context = contextOf(db, "members");
      const timeOf = async () => {
        const { expireAt } = (await on.get(["members", memberId(0)])) as { expireAt?: number };
        const kept = await on.get(["__keywright", "expiry", "members", memberId(0)]);
        return expireAt ?? kept.value;
      };
      const before = await timeOf();
      expect(before).toBeTypeOf("number");
      await beginTransform(context);
      expect(await runTransform(context)).toBe("done");
      expect(await storedRows(on)).toEqual(newMembers(25));
      expect(await timeOf()).toBe(before);
      await expectIndexesToMatch(on, New);
    } finally {
      await on.close();
      vi.useRealTimers();
    }
  });
});

describe("previewMigration", () => {
  it("shows rows before and after, or why one would fail, and writes nothing", async () => {
    await fillOld(kv, 20);
    const old = await openOld(kv);
    await old.members.update({ where: { id: memberId(1) }, data: { name: "nobody" } });
    await old.members.update({ where: { id: memberId(2) }, data: { name: "" } });
    const content = async () => {
      const entries: unknown[] = [];
      for await (const entry of kv.list({ prefix: [] })) entries.push(entry);
      return entries;
    };
    const before = await content();
    const db = await openNew(kv);
    expect(await previewMigration(db, { model: "members", rows: 3 })).toEqual([
      { id: memberId(0), before: oldMember(0), after: newMember(0) },
      {
        id: memberId(1),
        before: { ...oldMember(1), name: "nobody" },
        reason: "nobody has no full name",
        issues: [],
      },
      {
        id: memberId(2),
        before: { ...oldMember(2), name: "" },
        reason: expect.stringContaining("fullName"),
        issues: [expect.objectContaining({ path: ["fullName"] })],
      },
    ]);
    expect(await previewMigration(db, { model: "members" })).toHaveLength(10);
    const last = await previewMigration(db, { model: "members", after: memberId(17) });
    expect(last.map(({ id }) => id)).toEqual([memberId(18), memberId(19)]);
    expect(await rejection(previewMigration(db, { model: "members", rows: 1.5 }))).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "rows",
    });
    expect(await content()).toEqual(before);
  });

  it("leaves out the rows that are done where the change is under way", async () => {
    const { db, context } = await begun(30);
    await runUntil(context, 10);
    await db.members.update({ where: { id: memberId(11) }, data: { closed: true } });
    const rows = await previewMigration(db, { model: "members", rows: 2 });
    expect(rows.map(({ id }) => id)).toEqual([memberId(10), memberId(12)]);
  });
});

it("a change of rows is not taken over by a program that cannot finish it", async () => {
  const before = z.object({ id: z.string(), score: z.number() });
  const after = z.object({ id: z.string(), score: z.int() });
  const later = z.object({ id: z.string(), score: z.int().nullable() });
  const Old = defineModel({ name: "games", schema: before, primaryKey: "id" });
  const New = defineModel({ name: "games", schema: after, primaryKey: "id" });
  const Later = defineModel({ name: "games", schema: later, primaryKey: "id" });
  const old = await createDatabase({ kv, models: { games: Old } });
  for (const id of ["1", "2", "3"]) await old.games.create({ data: { id, score: Number(id) } });
  let fails = true;
  const migrations = [
    defineMigration({
      model: New,
      from: before,
      to: after,
      up: (row) => {
        if (fails && row.id === "3") throw new Error("not this one");
        return row;
      },
    }),
  ];
  const db = await createDatabase({ kv, models: { games: New }, migrations });
  expect((await migrate(db)).status).toBe("failed-rows");
  const without = await createDatabase({ kv, models: { games: Later } });
  expect(await migrate(without)).toMatchObject({
    status: "blocked",
    plan: { needsMigration: true },
  });
  await db.games.update({ where: { id: "1" }, data: { score: 10 } });
  fails = false;
  const withIt = await createDatabase({ kv, models: { games: Later }, migrations });
  expect((await migrate(withIt)).status).toBe("done");
  expect(await withIt.games.findUnique({ where: { id: "3" } })).toEqual({ id: "3", score: 3 });
});
