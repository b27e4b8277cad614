import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  type Database,
  defineModel,
  migrate,
  migrationStatus,
} from "../../src/index.js";
import { findDuplicates, planMigration, verifyIndexes } from "../../src/migrate.js";
import { Crash, crashAtEachCommit, crashingKv, withoutViews } from "../faulty-kv.js";
import { rejection } from "../user-model.js";

const schema = z.object({
  id: z.string(),
  team: z.string(),
  points: z.int(),
  title: z.string(),
  due: z.int().optional(),
  tags: z.array(z.string()).default([]),
});
type Task = z.output<typeof schema>;

/** The types are those of the first definition: team, and title if it is unique. */
const first = { byTeam: { key: "team" }, byTitle: { key: "title", unique: true } } as const;
const taskModel = (indexes: object) =>
  defineModel({
    name: "tasks",
    schema,
    primaryKey: "id",
    indexes,
  } as never) as unknown as ReturnType<typeof typed>;
const typed = () => defineModel({ name: "tasks", schema, primaryKey: "id", indexes: first });
const open = (on: Kv, indexes: object) =>
  createDatabase({ kv: on, models: { tasks: taskModel(indexes) } });
type Tasks = Database<{ tasks: ReturnType<typeof typed> }>;

const rowOf = (n: number): Task => ({
  id: `t${n}`,
  team: `team${n % 5}`,
  points: n % 7,
  title: `Title ${n}`,
  ...(n % 3 === 0 && { due: n }),
  tags: n % 2 === 0 ? ["even"] : ["odd", "all"],
});
const rows = Array.from({ length: 300 }, (_, n) => rowOf(n));
const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id).sort();
const wanted = (matches: (row: Task) => boolean) => idsOf(rows.filter(matches));

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function openFirst(indexes: object = first, on: Kv = kv): Promise<Tasks> {
  const db = await open(on, indexes);
  await db.tasks.createMany({ data: rows });
  return db;
}

async function keysUnder(prefix: string, on: Kv = kv): Promise<number> {
  let count = 0;
  for await (const _ of on.list({ prefix: [prefix] })) count++;
  return count;
}

/** Stops the run in a phase and returns its status. */
async function migrateUntil(db: Tasks, phase: string): Promise<string> {
  const stop = new AbortController();
  const { status } = await migrate(db, {
    accept: true,
    signal: stop.signal,
    onProgress: (progress) => progress.phase === phase && stop.abort(),
  });
  return status;
}

const changes: Readonly<Record<string, readonly [before: object, after: object]>> = {
  "another field": [{ key: "team" }, { key: ["team", "points"] }],
  "a descending field": [{ key: ["team", "points"] }, { key: ["team", { desc: "points" }] }],
  "copies of rows": [{ key: "team" }, { key: "team", store: "copy" }],
  "pointers in place of copies": [{ key: "team", store: "copy" }, { key: "team" }],
  "some fields of rows": [
    { key: "team", include: ["points"] },
    { key: "team", include: ["title"] },
  ],
  "another prefix": [{ key: "team" }, { key: "team", prefix: "tasks_of_team" }],
  "another condition": [{ key: "team", where: { due: null } }, { key: "team" }],
};

describe.each(Object.entries(changes))("an index that gets %s", (_, [before, after]) => {
  it("is read by both programs the whole time, and finds the same rows", async () => {
    const { byTitle } = first;
    const old = await openFirst({ byTeam: before, byTitle });
    const db = await open(kv, { byTeam: after, byTitle });
    const isPartial = "where" in before;
    let isOver = false;
    const reads = { old: 0, now: 0 };
    const read = async (who: keyof typeof reads, program: Tasks) => {
      while (!isOver) {
        const team = `team${reads[who] % 5}`;
        const { items } = await program.tasks.findMany({ where: { team } });
        expect(idsOf(items)).toEqual(wanted((row) => row.team === team));
        reads[who]++;
        await new Promise(setImmediate);
      }
    };
    // No index of the first program has all rows of a team if its index is partial.
    const reading = isPartial ? [] : [read("old", old), read("now", db)];
    expect((await planMigration(db)).steps).toMatchObject([
      { kind: "rebuild-index", class: "rebuild", reason: expect.stringContaining("beside") },
    ]);
    const running = migrate(db);
    const result = await running;
    isOver = true;
    await Promise.all(reading);
    expect(result.status).toBe("done");
    if (!isPartial) expect(Math.min(reads.old, reads.now)).toBeGreaterThan(5);
    expect((await planMigration(db)).isEmpty).toBe(true);
    expect(await verifyIndexes(db)).toMatchObject({ status: "clean" });
    const { items } = await db.tasks.findMany({ where: { team: "team1" } });
    expect(idsOf(items)).toEqual(wanted((row) => row.team === "team1"));
    // The entries of the earlier definition are gone.
    expect(await keysUnder("tasks_by_team")).toBe(0);
  });

  it("is rebuilt after a crash at any commit, if others write between the runs", async () => {
    const few = rows.slice(0, 30);
    await crashAtEachCommit(async (at) => {
      const place = await openKv();
      try {
        const old = await open(place, { byTeam: before });
        await old.tasks.createMany({ data: few });
        const attempt = async () => {
          const program = await open(crashingKv(place, at, at % 2 ? "before" : "after"), {
            byTeam: after,
          });
          return await migrate(program, { accept: true });
        };
        const hasCrashed = await attempt().then(
          () => false,
          (error) => {
            if (!(error instanceof Crash)) throw error;
            return true;
          },
        );
        await place.delete(["__keywright", "lease"]);
        const db = await open(place, { byTeam: after });
        const added = { ...rowOf(400), team: "team1" };
        const write = db.tasks.create({ data: added });
        // Before the first commit, the program may not write yet.
        const isWritten = await write.then(
          () => true,
          (error) => {
            if (error.code !== "KW_INDEX_CHANGED") throw error;
            return false;
          },
        );
        expect((await migrate(db, { accept: true })).status).toBe("done");
        expect(await verifyIndexes(db)).toMatchObject({ status: "clean" });
        const { items } = await db.tasks.findMany({ where: { team: "team1" } });
        const expected = few.filter(({ team }) => team === "team1").map(({ id }) => id);
        expect(idsOf(items)).toEqual([...expected, ...(isWritten ? ["t400"] : [])].sort());
        expect(await keysUnder("tasks_by_team", place)).toBe(0);
        return hasCrashed;
      } finally {
        await place.close();
      }
    });
  });
});

describe("while an index is rebuilt beside its entries", () => {
  const changed = { byTeam: { key: ["team", "points"] }, byTitle: first.byTitle };

  it("queries that only the new entries serve are refused", async () => {
    await openFirst();
    const db = await open(kv, changed);
    const query = { where: { team: "team1" }, orderBy: { points: "asc" } } as never;
    expect(await rejection(db.tasks.findMany(query))).toMatchObject({ code: "KW_INDEX_CHANGED" });
    expect(await migrateUntil(db, "building")).toBe("stopped");
    expect(await rejection(db.tasks.findMany(query))).toMatchObject({ code: "KW_INDEX_NOT_READY" });
    // A named index has its rows in the order of its definition.
    const named = { index: "byTeam", where: { team: "team1" } } as never;
    expect(await rejection(db.tasks.findMany(named))).toMatchObject({ code: "KW_INDEX_NOT_READY" });
    expect((await migrate(db)).status).toBe("done");
    const { items } = await db.tasks.findMany(query);
    expect(items.map(({ points }) => points)).toEqual(
      items.map(({ points }) => points).sort((a, b) => a - b),
    );
    expect(items).toHaveLength(60);
  });

  it("writers maintain both, and old programs can only read", async () => {
    const old = await openFirst();
    const db = await open(kv, changed);
    expect(await migrateUntil(db, "building")).toBe("stopped");
    const status = await migrationStatus(db);
    expect(status.models[0]?.indexes.byTeam).toMatchObject({ state: "write-only" });
    await db.tasks.update({ where: { id: "t1" }, data: { team: "new" } });
    await db.tasks.delete({ where: { id: "t6" } });
    expect(await rejection(old.tasks.delete({ where: { id: "t2" } }))).toMatchObject({
      code: "KW_STALE_SCHEMA",
      differences: ["the new definition of the index byTeam is in the database only"],
    });
    for (const program of [old, db]) {
      expect(idsOf((await program.tasks.findMany({ where: { team: "new" } })).items)).toEqual([
        "t1",
      ]);
    }
    expect((await migrate(db)).status).toBe("done");
    expect(await verifyIndexes(db)).toMatchObject({ status: "clean" });
  });

  it("values stay unique", async () => {
    const unique = { byTeam: first.byTeam, byTitle: { key: "title", unique: true, store: "copy" } };
    await openFirst();
    const db = await open(kv, unique);
    expect(await migrateUntil(db, "building")).toBe("stopped");
    // Its entry is not in the new index yet.
    const twin = { ...rowOf(500), title: "Title 299" };
    expect(await rejection(db.tasks.create({ data: twin }))).toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      index: "byTitle",
    });
    expect((await db.tasks.findUnique({ where: { title: "Title 299" } }))?.id).toBe("t299");
    expect((await migrate(db)).status).toBe("done");
    expect((await db.tasks.findUnique({ where: { title: "Title 299" } }))?.id).toBe("t299");
  });

  it("the earlier definition can be restored", async () => {
    const old = await openFirst();
    const db = await open(kv, changed);
    expect(await migrateUntil(db, "building")).toBe("stopped");
    expect((await migrate(old)).status).toBe("refused");
    expect((await planMigration(old)).steps).toMatchObject([
      { kind: "drop-index", class: "breaking", index: "byTeam" },
    ]);
    expect((await migrate(old, { accept: true })).status).toBe("done");
    await old.tasks.update({ where: { id: "t2" }, data: { team: "back" } });
    expect(await rejection(db.tasks.delete({ where: { id: "t3" } }))).toMatchObject({
      code: "KW_INDEX_CHANGED",
    });
    expect(await verifyIndexes(old)).toMatchObject({ status: "clean" });
    expect(await keysUnder("tasks_by_team 2")).toBe(0);
    expect((await planMigration(old)).isEmpty).toBe(true);
  });

  it("a third definition can replace the second", async () => {
    await openFirst();
    expect(await migrateUntil(await open(kv, changed), "building")).toBe("stopped");
    const third = { byTeam: { key: ["team", "title"] }, byTitle: first.byTitle };
    const db = await open(kv, third);
    expect(await migrateUntil(db, "building")).toBe("stopped");
    await db.tasks.update({ where: { id: "t2" }, data: { team: "third" } });
    expect((await migrate(db, { accept: true })).status).toBe("done");
    expect(await verifyIndexes(db)).toMatchObject({ status: "clean" });
    expect(idsOf((await db.tasks.findMany({ where: { team: "third" } })).items)).toEqual(["t2"]);
    const total = (await keysUnder("tasks_by_team")) + (await keysUnder("tasks_by_team 2"));
    expect(total + (await keysUnder("tasks_by_team 3"))).toBe(rows.length);
  });

  it("duplicates of a new unique index keep the earlier definition readable", async () => {
    await openFirst({ byTeam: first.byTeam, byTitle: { key: "title" } });
    const db = await open(kv, first);
    await kv.atomic().commit();
    const other = await open(kv, { byTeam: first.byTeam, byTitle: { key: "title" } });
    await other.tasks.create({ data: { ...rowOf(600), title: "Title 7" } });
    expect((await migrate(db)).status).toBe("duplicates");
    const query = { where: { title: "Title 7" } };
    expect(idsOf((await db.tasks.findMany(query)).items)).toEqual(["t600", "t7"]);
    expect(await rejection(db.tasks.findUnique(query))).toMatchObject({
      code: "KW_INDEX_NOT_READY",
    });
    const { items } = await findDuplicates(db, { model: "tasks", index: "byTitle" });
    expect(items).toHaveLength(1);
    await db.tasks.delete({ where: { id: "t600" } });
    expect((await db.tasks.findUnique(query))?.id).toBe("t7");
    expect((await migrate(db)).status).toBe("done");
    expect(await verifyIndexes(db)).toMatchObject({ status: "clean" });
  });

  it("counts are exact before, and after their counters are built anew", async () => {
    const counted = (key: unknown) => ({ byTeam: { key, count: true } });
    const old = await openFirst(counted("team"));
    const db = await open(kv, counted(["team", "points"]));
    const count = (program: Tasks) => program.tasks.count({ where: { team: "team1" } });
    expect([await count(old), await count(db)]).toEqual([60, 60]);
    expect(await migrateUntil(db, "building")).toBe("stopped");
    await db.tasks.delete({ where: { id: "t1" } });
    expect([await count(old), await count(db)]).toEqual([59, 59]);
    expect((await migrate(db)).status).toBe("done");
    expect(await count(db)).toBe(59);
    const where = { team: "team1", points: 6 } as never;
    expect(await db.tasks.count({ where })).toBe(
      rows.filter(({ team, points }) => team === "team1" && points === 6).length,
    );
    expect(await verifyIndexes(db)).toMatchObject({ status: "clean" });
  });

  it("a page that is read across the whole rebuild has all of its rows", async () => {
    const writer = await openFirst();
    const many = Array.from({ length: 1500 }, (_, n) => ({ ...rowOf(n + 1000), team: "many" }));
    await writer.tasks.createMany({ data: many });
    let isRebuilt = false;
    const slow = new Proxy(withoutViews(kv), {
      get(target, property) {
        const member: unknown = Reflect.get(target, property, target);
        if (property !== "getMany")
          return typeof member === "function" ? member.bind(target) : member;
        return async (keys: never) => {
          if (!isRebuilt) {
            isRebuilt = true;
            expect((await migrate(await open(kv, changed))).status).toBe("done");
          }
          return await target.getMany(keys);
        };
      },
    });
    const old = await open(slow, first);
    const query = { where: { team: "many" }, take: 2000 };
    expect(idsOf((await old.tasks.findMany(query)).items)).toEqual(idsOf(many));
    expect(isRebuilt).toBe(true);
  });
});
