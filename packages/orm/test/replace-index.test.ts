import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { tableContexts } from "../src/context/any-database.js";
import type { TableContext } from "../src/context/table-context.js";
import { buildCounters } from "../src/derived/counters/build-counters.js";
import { backfill } from "../src/derived/entries/fill/backfill.js";
import {
  type AnyDatabase,
  createDatabase,
  defineModel,
  type ReplacedIndex,
  type ReplaceStep,
  replaceIndex,
} from "../src/index.js";
import type { RunOptions } from "../src/run/migration-run.js";
import { Crash, crashAtEachCommit, crashingKv, denoKv } from "./faulty-kv.js";
import { withRun } from "./migration-run.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const schema = z.object({ id: z.string(), name: z.string(), visits: z.int().default(0) });

/** The guide's user with an index of copies, as a program has it that was written by the guide. */
const CopyUser = defineModel({
  name: "users",
  schema,
  primaryKey: "id",
  indexes: { byNameCopy: { key: "name", store: "copy" } },
});

/** The next version of the program, with an index of pointers beside it. */
const BothUser = defineModel({
  ...CopyUser,
  indexes: { ...CopyUser.indexes, byName: { key: "name" } },
});

/** The last one. */
const PointerUser = defineModel({ ...CopyUser, indexes: { byName: { key: "name" } } });

const openBoth = (kv: Kv) => createDatabase({ kv, models: { users: BothUser } });

async function contextOf(kv: Kv): Promise<TableContext> {
  return tableContexts(await openBoth(kv)).get("users")!;
}

const toPointers = { from: "byNameCopy", to: "byName" };
const toCopies = { from: "byName", to: "byNameCopy" };

async function replace(
  kv: Kv,
  step: ReplaceStep,
  names = toPointers,
  options: RunOptions = {},
): Promise<ReplacedIndex> {
  return await replaceIn(await openBoth(kv), { model: "users", ...names, step }, options);
}

/** A step in a database that no other runner has. */
async function replaceIn(
  db: AnyDatabase,
  replacement: Parameters<typeof replaceIndex>[1],
  options: RunOptions = {},
): Promise<ReplacedIndex> {
  const replaced = await replaceIndex(db, replacement, options);
  if (!("step" in replaced)) throw new Error(replaced.status);
  return replaced;
}

const refused = async (run: Promise<unknown>) => (await rejection(run)).reason;

async function entries(kv: Kv, prefix: string): Promise<number> {
  let count = 0;
  for await (const _ of kv.list({ prefix: [prefix] })) count++;
  return count;
}

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** Rows and copies as the guide writes them by hand, some of which are stale by now. */
async function writeByHand(on: Kv = kv, count = 10): Promise<void> {
  for (let i = 0; i < count; i++) {
    const user = { id: `u${i}`, name: `Name ${i}`, visits: 0 };
    await on
      .atomic()
      .set(["users", user.id], user)
      .set(["users_by_name_copy", user.name, user.id], user)
      .commit();
  }
  // A program updated rows and forgot the copies.
  await on.set(["users", "u1"], { id: "u1", name: "Name 1", visits: 7 });
  await on.set(["users", "u2"], { id: "u2", name: "Renamed", visits: 0 });
  await on.delete(["users", "u3"]);
}

describe("replacing copies by pointers", () => {
  it("goes the guide's three steps, with what was written by hand", async () => {
    await writeByHand();
    const built = await replace(kv, "backfill");
    expect(built).toEqual({
      model: "users",
      from: "byNameCopy",
      to: "byName",
      step: "backfill",
      status: "done",
      states: { from: "readable", to: "readable" },
      next: ["switch"],
      staleCopies: {
        count: 3,
        first: [
          {
            key: ["users_by_name_copy", "Name 1", "u1"],
            primaryKey: ["u1"],
            reason: "row-differs",
          },
          {
            key: ["users_by_name_copy", "Name 2", "u2"],
            primaryKey: ["u2"],
            reason: "row-differs",
          },
          {
            key: ["users_by_name_copy", "Name 3", "u3"],
            primaryKey: ["u3"],
            reason: "row-missing",
          },
        ],
      },
    });
    // From the rows, not from the copies.
    await expectIndexesToMatch(kv, BothUser, ["byName"]);
    const db = await openBoth(kv);
    const byName = (name: string) => db.users.findMany({ where: { name }, index: "byName" });
    expect((await byName("Name 1")).items).toEqual([{ id: "u1", name: "Name 1", visits: 7 }]);
    expect((await byName("Name 2")).items).toEqual([]);

    const switched = await replace(kv, "switch");
    expect(switched).toMatchObject({
      status: "done",
      states: { from: "disabled", to: "readable" },
      next: ["back", "clean-up"],
    });
    const after = await openBoth(kv);
    const { items } = await after.users.findMany({ where: { name: "Name 1" } });
    expect(items).toEqual([{ id: "u1", name: "Name 1", visits: 7 }]);
    const explained = await after.users.explain({ where: { name: "Name 1" } });
    expect(explained.index).toBe("byName");
    const named = after.users.findMany({ where: { name: "Name 1" }, index: "byNameCopy" });
    expect(await rejection(named)).toMatchObject({ code: "KW_INDEX_NOT_READY", state: "disabled" });

    const cleaned = await replace(kv, "clean-up");
    expect(cleaned).toMatchObject({
      status: "done",
      states: { from: "absent", to: "readable" },
      next: [],
    });
    expect(await entries(kv, "users_by_name_copy")).toBe(0);
    await db.users.create({ data: { id: "new", name: "New" } });
    expect(await entries(kv, "users_by_name_copy")).toBe(0);
    await expectIndexesToMatch(kv, BothUser, ["byName"]);
  });

  it("keeps both up until it is cleaned up, and goes back and forth", async () => {
    await writeByHand();
    await replace(kv, "backfill");
    const db = await openBoth(kv);
    for (let round = 0; round < 2; round++) {
      await replace(kv, "switch");
      const data = { id: `round${round}`, name: `Round ${round}` };
      await db.users.create({ data });
      await db.users.update({ where: { id: "u5" }, data: { visits: { increment: 1 } } });
      const copy = await kv.get<object>(["users_by_name_copy", "Name 5", "u5"]);
      expect(copy.value).toEqual({ id: "u5", name: "Name 5", visits: round + 1 });
      const back = await replace(kv, "back");
      expect(back).toMatchObject({
        status: "done",
        states: { from: "readable", to: "readable" },
        next: ["switch"],
      });
      const found = await db.users.findMany({ where: { name: data.name }, index: "byNameCopy" });
      expect(found.items).toMatchObject([data]);
    }
    await expectIndexesToMatch(kv, BothUser, ["byName"]);
  });

  it("lets the model lose the old index afterwards, and does not build it while it has it", async () => {
    await writeByHand();
    for (const step of ["backfill", "switch", "clean-up"] as const) await replace(kv, step);
    const context = await contextOf(kv);
    await withRun(kv, (run) => backfill(context, run));
    expect(context.catalog.snapshot.stateOf(context.model.indexes[0]!)).toBe("absent");
    expect(await entries(kv, "users_by_name_copy")).toBe(0);
    const db = await createDatabase({ kv, models: { users: PointerUser } });
    await db.users.create({ data: { id: "later", name: "Later" } });
    await expectIndexesToMatch(kv, PointerUser);
  });

  it("goes from pointers to copies too, also back to those that were cleaned up", async () => {
    await writeByHand();
    for (const step of ["backfill", "switch", "clean-up"] as const) await replace(kv, step);
    const built = await replace(kv, "backfill", toCopies);
    expect(built).toMatchObject({ status: "done", states: { from: "readable", to: "readable" } });
    expect(built.staleCopies).toBeUndefined();
    await expectIndexesToMatch(kv, BothUser);
    for (const step of ["switch", "clean-up"] as const) await replace(kv, step, toCopies);
    expect(await entries(kv, "users_by_name")).toBe(0);
    await expectIndexesToMatch(kv, BothUser, ["byNameCopy"]);
    const db = await openBoth(kv);
    const { items } = await db.users.findMany({ where: { name: "Renamed" } });
    expect(items).toEqual([{ id: "u2", name: "Renamed", visits: 0 }]);
  });

  it("counts again what a counted index has that is built a second time", async () => {
    const Counted = defineModel({
      ...BothUser,
      indexes: { byNameCopy: { key: "name", store: "copy", count: true }, byName: { key: "name" } },
    });
    await writeByHand();
    const db = await createDatabase({ kv, models: { users: Counted } });
    const step = (names: typeof toPointers, name: ReplaceStep) =>
      replaceIn(db, { model: "users", ...names, step: name });
    const buildAll = () =>
      withRun(kv, (run) => buildCounters(tableContexts(db).get("users")!, run));
    await buildAll();
    for (const name of ["backfill", "switch", "clean-up"] as const) await step(toPointers, name);
    expect((await kv.get(["__keywright", "count", "users_by_name_copy", "Name 5"])).value).toBe(
      null,
    );
    await buildAll();
    await db.users.create({ data: { id: "new", name: "Name 5" } });
    for (const name of ["backfill", "switch"] as const) await step(toCopies, name);
    expect(await db.users.count({ where: { name: "Name 5" }, index: "byNameCopy" })).toBe(2);
    await expectIndexesToMatch(kv, Counted);
  });

  it("does every step again without harm", async () => {
    await writeByHand();
    for (const step of ["backfill", "switch", "clean-up"] as const) {
      const once = await replace(kv, step);
      expect(await replace(kv, step)).toEqual(once);
    }
  });

  it("says which step is next where one is out of turn, and changes nothing", async () => {
    await writeByHand();
    const key = ["__keywright", "catalog", "users"];
    await openBoth(kv);
    const { versionstamp } = await kv.get(key);
    expect(await refused(replace(kv, "clean-up"))).toBe(
      "the index byNameCopy is readable and byName is absent: the next step is backfill",
    );
    expect(await replace(kv, "switch")).toMatchObject({ status: "not-ready", next: ["backfill"] });
    expect((await kv.get(key)).versionstamp).toBe(versionstamp);
    await replace(kv, "backfill");
    await replace(kv, "switch");
    expect(await refused(replace(kv, "backfill"))).toBe(
      "the index byNameCopy is disabled and byName is readable: the next step is back or clean-up",
    );
    await replace(kv, "clean-up");
    expect(await refused(replace(kv, "back"))).toBe(
      "the index byNameCopy is absent and byName is readable: it was replaced; to use it again, replace the other index with it",
    );
    expect(await refused(replace(kv, "switch"))).toContain("byNameCopy is absent");
    expect(await refused(replace(kv, "backfill"))).toContain("byNameCopy is absent");
  });

  it("refuses what is no index, no step, and an index in its own place", async () => {
    const unknown = replace(kv, "backfill", { from: "byNameCopy", to: "byAge" });
    expect(await rejection(unknown)).toMatchObject({ code: "KW_INDEX_UNKNOWN", index: "byAge" });
    const same = replace(kv, "backfill", { from: "byName", to: "byName" });
    expect(await rejection(same)).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "to" });
    const step = replace(kv, "forth" as ReplaceStep);
    expect(await rejection(step)).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "step" });
  });

  it("refuses an index that finds other rows, and says in what it differs", async () => {
    const schemaOfBoth = z.object({ id: z.string(), a: z.string(), b: z.string() });
    const Row = defineModel({
      name: "rows",
      schema: schemaOfBoth,
      primaryKey: "id",
      indexes: {
        byA: { key: "a" },
        byB: { key: "b" },
        byADown: { key: { desc: "a" } },
        uniqueA: { key: "a", unique: true },
        lowerA: { key: "a", normalize: (a) => a.toLowerCase() },
        upperA: { key: "a", normalize: (a) => a.toUpperCase() },
        someA: { key: "a", where: (row) => row.b !== "" },
        copiesOfA: { key: "a", store: "copy" },
        withB: { key: "a", include: ["b"] },
      },
    });
    const db = await createDatabase({ kv, models: { rows: Row } });
    const step = (from: string, to: string) =>
      replaceIn(db, { model: "rows", from, to, step: "backfill" });
    const code = "the code of their functions, or its version";
    for (const [from, to, aspects] of [
      ["byA", "byB", "key"],
      ["byA", "byADown", "key"],
      ["byA", "uniqueA", "unique"],
      ["byA", "lowerA", `normalize, ${code}`],
      ["lowerA", "upperA", code],
      ["byA", "someA", `where, ${code}`],
    ] as const) {
      expect(await rejection(step(from, to))).toMatchObject({
        code: "KW_ARGUMENT_INVALID",
        argument: "to",
        reason: `the indexes ${from} and ${to} do not find the same rows: they differ in ${aspects}`,
      });
    }
    for (const to of ["copiesOfA", "withB"]) {
      expect(await step("byA", to)).toMatchObject({ status: "done" });
    }
  });

  it("does not switch to a unique index whose duplicates are still there", async () => {
    await writeByHand();
    await kv.set(["users", "twin"], { id: "twin", name: "Name 5", visits: 0 });
    const UniqueUser = defineModel({
      ...CopyUser,
      indexes: {
        byNameCopy: { key: "name", unique: true, store: "copy" },
        byName: { key: "name", unique: true },
      },
    });
    const db = await createDatabase({ kv, models: { users: UniqueUser } });
    const step = (name: ReplaceStep) =>
      replaceIn(db, { model: "users", ...toPointers, step: name });
    expect(await step("backfill")).toMatchObject({
      status: "duplicates",
      states: { from: "readable", to: "unique-pending" },
    });
    expect(await step("switch")).toMatchObject({ status: "duplicates" });
  });

  it("refuses a program that does not know all that the database keeps up", async () => {
    await writeByHand();
    const Newer = defineModel({
      ...BothUser,
      indexes: {
        ...BothUser.indexes,
        byVisits: { key: (user: object) => Object.keys(user).length },
      },
    });
    const db = await createDatabase({ kv, models: { users: Newer } });
    await withRun(kv, (run) => backfill(tableContexts(db).get("users")!, run));
    expect((await rejection(replace(kv, "switch"))).code).toBe("KW_STALE_SCHEMA");
  });

  it("stops by the signal, and goes on", async () => {
    await writeByHand(kv, 30);
    for (const step of ["backfill", "switch", "clean-up"] as const) {
      if (step !== "switch") {
        const stop = new AbortController();
        const options = { signal: stop.signal, onProgress: () => stop.abort() };
        const stopped = await replace(kv, step, toPointers, options);
        expect(stopped.status).toBe("stopped");
      }
      expect((await replace(kv, step)).status).toBe("done");
    }
    expect(await entries(kv, "users_by_name_copy")).toBe(0);
  });

  it("reports no copy as stale whose row a writer changes between two reads", async () => {
    const db = await openBoth(kv);
    const data = Array.from({ length: 60 }, (_, i) => ({ id: `u${i}`, name: `Name ${i}` }));
    await db.users.createMany({ data });
    let n = 0;
    const busy = new Proxy(kv, {
      get(target, property) {
        if (property === "getMany") {
          return async (keys: readonly KvKey[]) => {
            const where = { id: `u${++n % 60}` };
            await db.users.update({ where, data: { visits: { increment: 1 }, name: `Now ${n}` } });
            return await target.getMany<unknown[]>(keys);
          };
        }
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    for (let i = 0; i < 5; i++) {
      const { staleCopies } = await replace(busy, "backfill");
      expect(staleCopies).toEqual({ count: 0, first: [] });
    }
    expect(n).toBeGreaterThan(5);
  });

  it.each(["before", "after"] as const)(
    "goes on after a crash %s any of its commits, within Deno's limits",
    { timeout: 120_000 },
    async (moment) => {
      const commits = await crashAtEachCommit(async (at) => {
        const fresh = await openKv();
        const deno = denoKv(fresh);
        try {
          await writeByHand(deno);
          let crashed = false;
          for (const step of ["backfill", "switch", "back", "switch", "clean-up"] as const) {
            const on: Kv = crashed ? deno : crashingKv(deno, at, moment);
            const result = await replace(on, step).catch((error: unknown) => error);
            if (result instanceof Crash) {
              crashed = true;
              expect((await replace(deno, step)).status).toBe("done");
            } else expect(result).toMatchObject({ status: "done" });
          }
          expect(await entries(fresh, "users_by_name_copy")).toBe(0);
          await expectIndexesToMatch(fresh, BothUser, ["byName"]);
          return crashed;
        } finally {
          await fresh.close();
        }
      });
      expect(commits).toBeGreaterThan(5);
    },
  );

  it("gives the same when two callers do a step at once", async () => {
    await writeByHand();
    for (const step of ["backfill", "switch", "clean-up"] as const) {
      const both = await Promise.all([replace(kv, step), replace(kv, step)]);
      expect(both.map(({ status }) => status)).toEqual(["done", "done"]);
      expect(both[1].states).toEqual(both[0].states);
    }
    await expectIndexesToMatch(kv, BothUser, ["byName"]);
  });
});
