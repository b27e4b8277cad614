// An index of copies becomes one of pointers, and the other way round: Deno KV's guide calls the
// steps backfill, switch and clean-up. `migrate` does all of them.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, type MigrationProgress, migrate } from "../src/index.js";
import { planMigration, verifyIndexes } from "../src/migrate.js";
import { defaultLimits } from "../src/state/catalog/capabilities-of.js";
import { ReadMeter } from "../src/state/context/read-meter.js";
import { Crash, crashAtEachCommit, crashingKv, denoKv } from "./faulty-kv.js";
import { contextOf } from "./migration-run.js";
import { findOne } from "./reads.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const schema = z.object({
  id: z.string(),
  team: z.string(),
  email: z.string(),
  visits: z.int().default(0),
});
const base = { name: "users", schema, primaryKey: "id" } as const;
const Copies = defineModel({
  ...base,
  indexes: {
    byTeam: { key: "team", store: "copy", count: true },
    byEmail: { key: "email", unique: true, store: "copy" },
  },
});
const Pointers = defineModel({
  ...base,
  indexes: {
    byTeam: { key: "team", count: true },
    byEmail: { key: "email", unique: true },
  },
});
const models = { copies: Copies, pointers: Pointers };
type Kind = keyof typeof models;

const open = (kv: Kv, kind: Kind) =>
  createDatabase({ kv, models: { users: models[kind] as typeof Pointers } });
type Users = Awaited<ReturnType<typeof open>>;

const rowOf = (n: number) => ({ id: `u${n}`, team: `t${n % 5}`, email: `${n}@x`, visits: 0 });

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function keysUnder(...prefixes: string[]): Promise<number> {
  let count = 0;
  for (const prefix of prefixes) for await (const _ of kv.list({ prefix: [prefix] })) count++;
  return count;
}

const directions = [
  ["copies", "pointers"],
  ["pointers", "copies"],
] as const;

describe.each(directions)("an index that goes from %s to %s", (before, after) => {
  it("is read while others write, without a gap, a wrong row or an old value", async () => {
    const old = await open(kv, before);
    const rows = Array.from({ length: 300 }, (_, n) => rowOf(n));
    await old.users.createMany({ data: rows });
    // A handle of its own, with a catalog of its own.
    const idle = await open(crashingKv(kv, Number.POSITIVE_INFINITY, "before"), before);
    const db = await open(kv, after);
    /** The increments of each row that were begun, and those that were acknowledged. */
    const begun = new Map(rows.map(({ id }) => [id, 0]));
    const done = new Map(begun);
    const expectCurrent = (row: { id: string; visits: number }, from: typeof done) => {
      expect(row.visits).toBeGreaterThanOrEqual(from.get(row.id)!);
      expect(row.visits).toBeLessThanOrEqual(begun.get(row.id)!);
    };
    let isOver = false;
    const reads = { old: 0, now: 0 };
    const read = async (program: Users, name: keyof typeof reads) => {
      for (let n = 0; !isOver; n++) {
        const team = `t${n % 5}`;
        let from = new Map(done);
        const { items } = await program.users.findMany({ where: { team }, index: "byTeam" });
        const expected = rows.filter((row) => row.team === team).map(({ id }) => id);
        expect(items.map(({ id }) => id)).toEqual(expected.sort());
        for (const row of items) expectCurrent(row, from);
        const { id, email } = rows[(n * 7) % rows.length]!;
        from = new Map(done);
        const found = await program.users.findUnique({ where: { email } });
        expect(found?.id).toBe(id);
        expectCurrent(found!, from);
        expect(await program.users.count({ where: { team } })).toBe(expected.length);
        reads[name]++;
        await nextTurn();
      }
    };
    const refusals = new Set<unknown>();
    let writes = 0;
    const write = async (program: Users) => {
      for (let n = 0; !isOver; n++) {
        const { id } = rows[(n * 13) % rows.length]!;
        const moved = { id: `moved${n % 20}`, email: `moved${n % 20}@x`, team: `m${n % 3}` };
        begun.set(id, begun.get(id)! + 1);
        try {
          const data = { visits: { increment: 1 } } as const;
          await program.users.update({ where: { id }, data });
          done.set(id, done.get(id)! + 1);
          writes++;
          await program.users.upsert({ where: { id: moved.id }, create: moved, update: moved });
          if (n % 4 === 0) await program.users.delete({ where: { id: moved.id } });
        } catch (error) {
          refusals.add((error as { code?: unknown }).code);
          begun.set(id, done.get(id)!);
        }
        await nextTurn();
      }
    };
    const [{ kind, class: stepClass } = {}, ...others] = (await planMigration(db)).steps;
    expect([kind, stepClass]).toEqual(["rebuild-index", "rebuild"]);
    expect(others.map((step) => step.kind)).toEqual(["rebuild-index"]);
    const running = migrate(db, { rowsPerSecond: 3000 }).finally(() => {
      isOver = true;
    });
    const loops = [read(old, "old"), read(db, "now"), write(db)];
    const [{ status }] = await Promise.all([running, ...loops]);
    expect(status).toBe("done");
    expect(Math.min(reads.old, reads.now, writes)).toBeGreaterThan(5);
    // Only before the run has begun.
    expect([...refusals].filter((code) => code !== "KW_INDEX_CHANGED")).toEqual([]);
    expect((await verifyIndexes(db)).status).toBe("clean");
    expect((await planMigration(db)).isEmpty).toBe(true);
    expect(await keysUnder("users_by_team", "users_by_email")).toBe(0);
    // A read of a program that has not read the catalog since before the change chooses again.
    const unlimited = new ReadMeter("users", Number.POSITIVE_INFINITY);
    const found = await findOne(contextOf(idle, "users"), { email: "1@x" }, unlimited);
    expect(found?.row["id"]).toBe("u1");
    // A program with the earlier definition cannot write, and reads by the new entries.
    const writeOld = old.users.update({ where: { id: "u1" }, data: { visits: 99 } });
    expect(await rejection(writeOld)).toMatchObject({ code: "KW_INDEX_CHANGED" });
    expect((await old.users.findUnique({ where: { email: "1@x" } }))?.id).toBe("u1");
  });

  it("continues after a crash after any of its commits, within Deno's limits", async () => {
    const data = Array.from({ length: 12 }, (_, n) => rowOf(n));
    const commits = await crashAtEachCommit(async (at) => {
      const fresh = await openKv();
      try {
        // A database that states its limits is known to be local, so runs wait shorter for readers.
        const deno = Object.assign(denoKv(fresh), { limits: defaultLimits });
        const old = await open(deno, before);
        await old.users.createMany({ data });
        const program = await open(crashingKv(deno, at, "after"), after);
        const result = await migrate(program).catch((error: unknown) => error);
        const isCrashed = result instanceof Crash;
        if (!isCrashed) expect(result).toMatchObject({ status: "done" });
        for (const reader of [old, await open(deno, after)]) {
          const { items } = await reader.users.findMany({ where: { team: "t1" } });
          expect(items.map(({ id }) => id)).toEqual(["u1", "u11", "u6"]);
          expect((await reader.users.findUnique({ where: { email: "3@x" } }))?.id).toBe("u3");
        }
        await deno.delete(["__keywright", "lease"]);
        const db = await open(deno, after);
        expect((await migrate(db)).status).toBe("done");
        await db.users.delete({ where: { id: "u6" } });
        expect((await verifyIndexes(db)).status).toBe("clean");
        expect((await planMigration(db)).isEmpty).toBe(true);
        return isCrashed;
      } finally {
        await fresh.close();
      }
    });
    expect(commits).toBeGreaterThan(5);
  });

  it("returns to its first form if its change is given up, and can change again", async () => {
    const old = await open(kv, before);
    await old.users.createMany({ data: Array.from({ length: 40 }, (_, n) => rowOf(n)) });
    const stop = new AbortController();
    const onProgress = ({ phase }: MigrationProgress) => {
      if (phase === "building") stop.abort();
    };
    const db = await open(kv, after);
    expect((await migrate(db, { signal: stop.signal, onProgress })).status).toBe("stopped");
    await db.users.create({ data: rowOf(90) });
    expect((await migrate(old)).status).toBe("refused");
    expect((await migrate(old, { accept: true })).status).toBe("done");
    await old.users.create({ data: rowOf(91) });
    expect((await verifyIndexes(old)).status).toBe("clean");
    expect((await migrate(db, { accept: true })).status).toBe("done");
    expect(await db.users.count({ where: { team: "t0" } })).toBe(9);
    expect((await verifyIndexes(db)).status).toBe("clean");
  });
});

it("pointers are built from the rows, not from copies that a program forgot to update", async () => {
  for (let n = 0; n < 10; n++) {
    const row = rowOf(n);
    await kv
      .atomic()
      .set(["users", row.id], row)
      .set(["users_by_team", row.team, row.id], row)
      .set(["users_by_email", row.email], row)
      .commit();
  }
  await kv.set(["users", "u1"], { ...rowOf(1), visits: 7 });
  await kv.set(["users", "u2"], { ...rowOf(2), team: "other" });
  await kv.delete(["users", "u3"]);
  const old = await open(kv, "copies");
  await migrate(old);
  const [found] = (await verifyIndexes(old)).models;
  expect(found).toMatchObject({ counts: { missing: 1, dangling: 3, mismatched: 3 } });
  const db = await open(kv, "pointers");
  expect((await migrate(db)).status).toBe("done");
  const find = async (team: string) => (await db.users.findMany({ where: { team } })).items;
  expect(await find("t1")).toEqual([{ ...rowOf(1), visits: 7 }, rowOf(6)]);
  expect(await find("t2")).toEqual([rowOf(7)]);
  expect(await find("other")).toEqual([{ ...rowOf(2), team: "other" }]);
  expect(await find("t3")).toEqual([rowOf(8)]);
  expect(await db.users.findUnique({ where: { email: "3@x" } })).toBe(null);
  expect((await verifyIndexes(db)).status).toBe("clean");
  expect(await keysUnder("users_by_team", "users_by_email")).toBe(0);
});

// Earlier releases replaced an index with another of the same model, in three calls. A database may
// be between two of them.
describe("an index that an earlier release has replaced", () => {
  const player = {
    name: "players",
    schema: z.object({ id: z.string(), name: z.string() }),
    primaryKey: "id",
  } as const;
  const byName = { key: "name" } as const;
  const byNameCopy = { key: "name", store: "copy" } as const;
  const unique = { unique: true } as const;
  const cases = {
    plain: {
      Before: defineModel({ ...player, indexes: { byNameCopy } }),
      Both: defineModel({ ...player, indexes: { byNameCopy, byName } }),
      After: defineModel({ ...player, indexes: { byName } }),
    },
    unique: {
      Before: defineModel({ ...player, indexes: { byNameCopy: { ...byNameCopy, ...unique } } }),
      Both: defineModel({
        ...player,
        indexes: { byNameCopy: { ...byNameCopy, ...unique }, byName: { ...byName, ...unique } },
      }),
      After: defineModel({ ...player, indexes: { byName: { ...byName, ...unique } } }),
    },
  };
  type Models = (typeof cases)["plain"];
  const openModel = (model: unknown) =>
    createDatabase({ kv, models: { players: model as Models["After"] } });

  /** Writes what that release left: the old index in this state, and a copy that is outdated. */
  async function replaced(state: "disabled" | "dropping" | "absent", { Both }: Models) {
    const both = await openModel(Both);
    await both.players.createMany({ data: [1, 2, 3].map((n) => ({ id: `${n}`, name: `N${n}` })) });
    await migrate(both);
    const key = ["__keywright", "catalog", "players"];
    const { value } = await kv.get<{ indexes: { byNameCopy: object } }>(key);
    const old = { ...value!.indexes.byNameCopy, state, replacedBy: "byName" };
    await kv.set(key, { ...value, indexes: { ...value!.indexes, byNameCopy: old } });
    for await (const { key, value: copy } of kv.list({ prefix: ["players_by_name_copy"] })) {
      if (state === "absent" || (state === "dropping" && key.includes("N1"))) await kv.delete(key);
      else if (key.includes("N2")) await kv.set(key, { ...(copy as object), name: "outdated" });
    }
  }

  const states = ["disabled", "dropping", "absent"] as const;
  describe.each(Object.entries(cases))("%s", (_, of) => {
    const { Before, Both, After } = of as unknown as Models;

    it.each(states)("and that is %s is removed when the model no longer has it", async (state) => {
      await replaced(state, { Before, Both, After });
      const db = await openModel(After);
      const { steps } = await planMigration(db);
      expect(steps.map((step) => [step.kind, step.class])).toEqual(
        state === "absent" ? [] : [["drop-index", "safe"]],
      );
      await db.players.create({ data: { id: "4", name: "N4" } });
      expect((await migrate(db)).status).toBe("done");
      expect(await keysUnder("players_by_name_copy")).toBe(0);
      await expectIndexesToMatch(kv, After);
      expect((await planMigration(db)).isEmpty).toBe(true);
    });

    it.each(states)("and that is %s is built again when the model has both", async (state) => {
      await replaced(state, { Before, Both, After });
      const db = await openModel(Both);
      await db.players.create({ data: { id: "4", name: "N4" } });
      const find = async (index: "byName") =>
        (await db.players.findMany({ where: { name: "N2" }, index })).items;
      expect(await find("byName")).toEqual([{ id: "2", name: "N2" }]);
      const byCopy = await rejection(find("byNameCopy" as "byName"));
      expect(byCopy).toMatchObject({ code: "KW_INDEX_NOT_READY", state });
      const reads: Promise<unknown>[] = [];
      const onProgress = () => void reads.push(find("byName"));
      expect((await migrate(db, { onProgress })).status).toBe("done");
      for (const items of await Promise.all(reads))
        expect(items).toEqual([{ id: "2", name: "N2" }]);
      expect(await find("byNameCopy" as "byName")).toEqual([{ id: "2", name: "N2" }]);
      await expectIndexesToMatch(kv, Both);
      expect((await verifyIndexes(db)).status).toBe("clean");
      expect((await planMigration(db)).isEmpty).toBe(true);
      expect(
        JSON.stringify((await kv.get(["__keywright", "catalog", "players"])).value),
      ).not.toContain("replacedBy");
    });

    it.each(states)("and that is %s serves a program that has only it again", async (state) => {
      await replaced(state, { Before, Both, After });
      const db = await openModel(Before);
      expect((await migrate(db)).status).toBe("refused");
      expect((await migrate(db, { accept: true })).status).toBe("done");
      const { items } = await db.players.findMany({ where: { name: "N2" } });
      expect(items).toEqual([{ id: "2", name: "N2" }]);
      await expectIndexesToMatch(kv, Before);
      expect((await planMigration(db)).isEmpty).toBe(true);
    });
  });
});
