import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import {
  type AnyDatabase,
  createDatabase,
  defineModel,
  migrate,
  migrationStatus,
} from "../../src/index.js";
import { planMigration, verifyIndexes } from "../../src/migrate.js";

const schema = z.object({ id: z.string(), team: z.string(), email: z.string(), n: z.number() });
const base = { name: "users", schema, primaryKey: "id" } as const;
const Before = defineModel({ ...base, indexes: { byTeam: { key: "team" } } });
const After = defineModel({ ...base, indexes: { byTeam: { key: ["team", "n"] } } });
const Third = defineModel({ ...base, indexes: { byTeam: { key: ["team", "email"] } } });
const rows = Array.from({ length: 1500 }, (_, i) => ({
  id: String(i).padStart(4, "0"),
  team: `t${i % 7}`,
  email: `${i}@x`,
  n: 1000 - i,
}));

const openBefore = (kv: Kv) => createDatabase({ kv, models: { users: Before } });
const openAfter = (kv: Kv) => createDatabase({ kv, models: { users: After } });
const openThird = (kv: Kv) => createDatabase({ kv, models: { users: Third } });

interface Reader {
  readonly users: {
    findMany(query: {
      readonly where: { readonly team: string };
      readonly take: number;
    }): PromiseLike<{ readonly items: readonly { readonly id: string }[] }>;
  };
}

async function idsOf(db: Reader, team: string): Promise<string[]> {
  const { items } = await db.users.findMany({ where: { team }, take: 10_000 });
  return items.map(({ id }) => id).sort();
}

async function expectVerified(db: AnyDatabase): Promise<void> {
  expect((await verifyIndexes(db)).status).toBe("clean");
}

async function withRows(run: (kv: Kv) => Promise<void>): Promise<void> {
  const kv = await openKv();
  try {
    const db = await openBefore(kv);
    await db.users.createMany({ data: rows });
    await run(kv);
  } finally {
    await kv.close();
  }
}

const expected = (team: string) => rows.filter((row) => row.team === team).map(({ id }) => id);

it("a changed index can be read from the opening of the new program to the end of its rebuild", async () => {
  await withRows(async (kv) => {
    const old = await openBefore(kv);
    const db = await openAfter(kv);
    expect(await idsOf(db, "t1")).toEqual(expected("t1"));
    expect(await db.users.count({ where: { team: "t1" } })).toBe(expected("t1").length);
    const plan = await planMigration(db);
    expect(plan.steps.map(({ kind, class: stepClass }) => [kind, stepClass])).toEqual([
      ["rebuild-index", "rebuild"],
    ]);
    expect(plan.steps[0]?.reason).toContain("beside its entries");
    let done = false;
    let reads = 0;
    const model = new Map(rows.map((row) => [row.id, row]));
    const readAll = async () => {
      while (!done) {
        for (const reader of [old, db]) {
          expect(await idsOf(reader, "t2")).toEqual(expected("t2"));
          reads++;
        }
        await nextTurn();
      }
    };
    const writeAll = async () => {
      for (let i = 0; !done; i++) {
        const id = `w${i % 50}`;
        const row = { id, team: "w", email: `${id}@x`, n: i };
        try {
          await db.users.upsert({ where: { id }, create: row, update: row });
        } catch (error) {
          // The rows are written only after the migration has begun.
          if ((error as { code?: string }).code !== "KW_INDEX_CHANGED") throw error;
          await new Promise((resolve) => setTimeout(resolve, 1));
          continue;
        }
        await nextTurn();
        model.set(id, row);
        const ids = await idsOf(db, "w");
        expect(ids).toEqual([...model.keys()].filter((key) => key.startsWith("w")).sort());
      }
    };
    const loops = [readAll(), writeAll()];
    const migration = migrate(db, { rowsPerSecond: 4000 }).finally(() => {
      done = true;
    });
    const result = await Promise.all([migration, ...loops]).then(([first]) => first);
    expect(result.status).toBe("done");
    expect(reads).toBeGreaterThan(10);
    expect(await idsOf(db, "t2")).toEqual(expected("t2"));
    await expectVerified(db);
    const [status] = (await migrationStatus(db)).models;
    expect(Object.keys(status?.indexes ?? {})).toEqual(["byTeam"]);
    // The new entries serve its query too.
    expect(await idsOf(old, "t2")).toEqual(expected("t2"));
    await expect(old.users.delete({ where: { id: "0002" } })).rejects.toMatchObject({
      code: "KW_INDEX_CHANGED",
    });
  });
});

it("a program that goes back in the middle of a rebuild rebuilds nothing", async () => {
  await withRows(async (kv) => {
    await stopHalfway(kv);
    const old = await openBefore(kv);
    expect(await idsOf(old, "t1")).toEqual(expected("t1"));
    const plan = await planMigration(old);
    expect(plan.steps.map(({ reason }) => reason).join()).toContain("given up");
    const result = await migrate(old, { accept: true });
    expect(result.status).toBe("done");
    expect(result.indexes).toEqual([]);
    expect(await idsOf(old, "t1")).toEqual(expected("t1"));
    await expectVerified(old);
    expect((await planMigration(old)).isEmpty).toBe(true);
  });
});

it("a third definition in the middle of a rebuild leaves the first one readable", async () => {
  await withRows(async (kv) => {
    await stopHalfway(kv);
    const third = await openThird(kv);
    expect(await idsOf(third, "t1")).toEqual(expected("t1"));
    let reads = 0;
    const pending: Promise<void>[] = [];
    const onProgress = () => {
      reads++;
      pending.push(idsOf(third, "t1").then((ids) => expect(ids).toEqual(expected("t1"))));
    };
    expect((await migrate(third, { onProgress, accept: true })).status).toBe("done");
    await Promise.all(pending);
    expect(reads).toBeGreaterThan(0);
    await expectVerified(third);
    expect((await planMigration(third)).isEmpty).toBe(true);
    const back = await openAfter(kv);
    expect((await migrate(back, { accept: true })).status).toBe("done");
    expect(await idsOf(back, "t1")).toEqual(expected("t1"));
    await expectVerified(back);
  });
});

it("a new unique index is built beside the old entries, which queries use while there are duplicates", async () => {
  const Plain = defineModel({ ...base, indexes: { byEmail: { key: "email" } } });
  const Unique = defineModel({ ...base, indexes: { byEmail: { key: "email", unique: true } } });
  const kv = await openKv();
  try {
    const old = await createDatabase({ kv, models: { users: Plain } });
    const row = { team: "t", email: "a", n: 1 };
    await old.users.createMany({
      data: [
        { id: "1", ...row },
        { id: "2", ...row },
      ],
    });
    const db = await createDatabase({ kv, models: { users: Unique } });
    expect((await migrate(db)).status).toBe("duplicates");
    const find = async () =>
      (await db.users.findMany({ where: { email: "a" } })).items.map(({ id }) => id);
    expect(await find()).toEqual(["1", "2"]);
    await expect(db.users.create({ data: { id: "3", ...row } })).rejects.toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      index: "byEmail",
    });
    await db.users.delete({ where: { id: "1" } });
    expect(await db.users.findUnique({ where: { email: "a" } })).toMatchObject({ id: "2" });
    expect((await migrate(db)).status).toBe("done");
    expect((await planMigration(db)).isEmpty).toBe(true);
    await expectVerified(db);
  } finally {
    await kv.close();
  }
});

it("the values of an index that is no longer unique stay unique until its rebuild ends", async () => {
  const Unique = defineModel({ ...base, indexes: { byEmail: { key: "email", unique: true } } });
  const Plain = defineModel({ ...base, indexes: { byEmail: { key: "email", count: true } } });
  const kv = await openKv();
  try {
    const old = await createDatabase({ kv, models: { users: Unique } });
    await old.users.create({ data: { id: "1", team: "t", email: "a", n: 1 } });
    const db = await createDatabase({ kv, models: { users: Plain } });
    const twin = { id: "2", team: "t", email: "a", n: 1 };
    let refused = 0;
    const pending: Promise<void>[] = [];
    const onProgress = ({ phase }: { phase: string }) => {
      if (phase !== "building") return;
      const isRefused = db.users.create({ data: twin }).then(
        () => undefined,
        (error: { code?: string }) => {
          expect(error.code).toBe("KW_UNIQUE_CONSTRAINT");
          refused++;
        },
      );
      pending.push(isRefused);
    };
    expect((await migrate(db, { onProgress })).status).toBe("done");
    await Promise.all(pending);
    expect(refused).toBeGreaterThan(0);
    await db.users.upsert({ where: { id: "2" }, create: twin, update: {} });
    expect(await db.users.count({ where: { email: "a" } })).toBe(2);
    await expectVerified(db);
  } finally {
    await kv.close();
  }
});

/** Stops the migration to `After` within its backfill. */
async function stopHalfway(kv: Kv): Promise<void> {
  const db = await openAfter(kv);
  const controller = new AbortController();
  const onProgress = ({ phase, done }: { phase: string; done: number }) => {
    if (phase === "building" && done > 0) controller.abort();
  };
  const { status } = await migrate(db, { onProgress, signal: controller.signal });
  expect(status).toBe("stopped");
  expect(await idsOf(db, "t1")).toEqual(expected("t1"));
  const [{ indexes } = { indexes: {} }] = (await migrationStatus(db)).models;
  expect(indexes).toMatchObject({
    byTeam: { state: "write-only" },
  });
}
