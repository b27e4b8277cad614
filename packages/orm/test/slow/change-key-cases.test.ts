import { type Kv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { openModels } from "../../src/codegen.js";
import {
  belongsTo,
  createDatabase,
  defineModel,
  type Model,
  migrate,
  migrationStatus,
  PrimaryKeyDiffersError,
} from "../../src/index.js";
import { verifyIndexes } from "../../src/migrate.js";
import { Crash, crashingKv, denoKv, interferingKv } from "../faulty-kv.js";
import { expectFresh, fill, openByEmail, openById, userOf } from "../key-change.js";
import { Reports } from "../live-reports.js";

async function withKv(test: (kv: Kv) => Promise<void>): Promise<void> {
  const kv = await openKv();
  try {
    await test(kv);
  } finally {
    await kv.close();
  }
}

const schema = z.object({ id: z.string(), code: z.string(), note: z.string() });
const things = { name: "things", schema } as const;
const indexes = { byNote: { key: "note" } } as const;
const ThingById = defineModel({ ...things, primaryKey: "id", indexes });
const ThingByCode = defineModel({ ...things, primaryKey: "code", indexes });
const open = <M extends Model>(kv: Kv, model: M) =>
  openModels<{ things: M }>({ kv, models: { things: model } });
const thing = (n: number) => ({ id: `t${n}`, code: `c${9 - n}`, note: `n${n % 2}` });

/** Runs a migration until its commit number `at`, and says whether it came so far. */
async function migrateUntil(kv: Kv, at: number): Promise<boolean> {
  try {
    await migrate(await openByEmail(crashingKv(kv, at, "after")), { accept: true });
    return true;
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    return false;
  }
}

describe("programs with the earlier key", () => {
  const where = { id: "u1" };
  type Old = Awaited<ReturnType<typeof openById>>;
  const calls: readonly (readonly [string, (db: Old) => PromiseLike<unknown>])[] = [
    ["findUnique", (db) => db.users.findUnique({ where })],
    ["findUnique by an index", (db) => db.users.findUnique({ where: { name: "Name 1" } })],
    ["findMany by the key", (db) => db.users.findMany({ where })],
    ["findMany by an index", (db) => db.users.findMany({ where: { color: "green" } })],
    ["a covering index", (db) => db.users.findMany({ where: { age: 1 }, select: { age: true } })],
    ["scan", (db) => db.users.scan()],
    ["a stream", (db) => db.users.scan()[Symbol.asyncIterator]().next()],
    ["count", (db) => db.users.count()],
    ["count by an index", (db) => db.users.count({ where: { color: "green" } })],
    ["exists", (db) => db.users.exists({ where })],
    ["watch", (db) => db.users.watch({ where }).getReader().read()],
    [
      "watchMany",
      (db) =>
        db.users
          .watchMany({ where: { color: "green" } })
          .getReader()
          .read(),
    ],
    ["create", (db) => db.users.create({ data: userOf(77) })],
    ["update", (db) => db.users.update({ where, data: { color: "red" } })],
    ["delete", (db) => db.users.delete({ where })],
    ["deleteMany", (db) => db.users.deleteMany({ where: { color: "green" } })],
    ["a transaction", (db) => db.transaction((tx) => tx.users.findUnique({ where }))],
    ["verify", (db) => verifyIndexes(db)],
  ];

  it.each(calls)("are refused %s after the switch", async (_, call) => {
    await withKv(async (kv) => {
      const rows = await fill(kv, 6);
      const old = await openById(kv);
      expect(await old.users.findUnique({ where })).toEqual(rows[1]);
      await migrate(await openByEmail(kv), { accept: true });
      await expect(Promise.resolve(call(old))).rejects.toThrow(PrimaryKeyDiffersError);
      await expectFresh(kv, rows);
    });
  });

  it("are refused a transaction that began before the switch", async () => {
    await withKv(async (kv) => {
      const rows = await fill(kv, 6);
      const old = await openById(kv);
      const late = old.transaction(async (tx) => {
        await tx.users.update({ where, data: { color: "blue" } });
        await migrate(await openByEmail(kv), { accept: true });
      });
      await expect(late).rejects.toThrow(PrimaryKeyDiffersError);
      await expectFresh(kv, rows);
    });
  });

  it("are refused a stream of rows that began before the switch", async () => {
    await withKv(async (kv) => {
      await fill(kv, 6);
      const old = await openById(kv);
      const read = async () => {
        for await (const row of old.users.scan({ take: 2 })) {
          if (row.id === "u0") await migrate(await openByEmail(kv), { accept: true });
        }
        let cursor: string | null = null;
        do {
          const page: { cursor: string | null } = await old.users.scan({ take: 2, cursor });
          cursor = page.cursor;
        } while (cursor !== null);
      };
      await expect(read()).rejects.toThrow(PrimaryKeyDiffersError);
    });
  });

  it("see their live queries end with the reason", async () => {
    await withKv(async (kv) => {
      await fill(kv, 6);
      const old = await openById(kv);
      const one = old.users.watch({ where }).getReader();
      const many = old.users.watchMany({ where: { color: "green" } }).getReader();
      expect((await one.read()).value).toMatchObject({ id: "u1" });
      expect((await many.read()).value).toHaveLength(2);
      await migrate(await openByEmail(kv), { accept: true });
      await expect(one.read()).rejects.toThrow(PrimaryKeyDiffersError);
      await expect(many.read()).rejects.toThrow(PrimaryKeyDiffersError);
    });
  });
});

describe("a program with the new key", () => {
  it("that was open before the switch reads, writes and watches after it", async () => {
    await withKv(async (kv) => {
      const rows = await fill(kv, 6);
      const db = await openByEmail(kv);
      await migrate(await openByEmail(kv), { accept: true });
      const where = { email: rows[1]?.email ?? "" };
      const reports = new Reports(db.users.watch({ where }));
      expect(await reports.next()).toEqual(rows[1]);
      await db.users.update({ where, data: { color: "blue" } });
      expect(await reports.next()).toMatchObject({ color: "blue" });
      await reports.cancel();
    });
  });

  it("does not copy other entries under the prefix of the rows, and leaves them", async () => {
    await withKv(async (kv) => {
      const rows = await fill(kv, 3);
      await kv.set(["users", "u1", "avatar"], "picture");
      await migrate(await openByEmail(kv), { accept: true });
      expect((await kv.get(["users", "u1", "avatar"])).value).toBe("picture");
      await kv.delete(["users", "u1", "avatar"]);
      await expectFresh(kv, rows);
    });
  });

  it("keeps the times at which rows expire", async () => {
    await withKv(async (kv) => {
      const old = await open(kv, ThingById);
      await old.things.create({ data: thing(1), expireIn: 60_000 });
      await old.things.create({ data: thing(2), expireIn: 400 });
      await old.things.create({ data: thing(3) });
      const expiresAt = (await kv.get(["things", "t1"])) as { expireAt?: number };
      const db = await open(kv, ThingByCode);
      expect((await migrate(db, { accept: true })).status).toBe("done");
      const moved = (await kv.get(["things (code)", "c8"])) as { expireAt?: number };
      expect(Math.abs((moved.expireAt ?? 0) - (expiresAt.expireAt ?? 1))).toBeLessThan(50);
      expect(await kv.get(["things (code)", "c6"])).not.toHaveProperty("expireAt");
      await expect
        .poll(async () => (await db.things.findMany({ where: { note: "n0" } })).items)
        .toEqual([]);
      expect((await verifyIndexes(db)).status).toBe("clean");
    });
  });

  it("changes a key of several fields on a database with Deno KV's limits", async () => {
    await withKv(async (kv) => {
      const limited = denoKv(kv);
      const Pair = defineModel({ ...things, primaryKey: ["note", "id"], indexes });
      const old = await open(limited, Pair);
      const rows = Array.from({ length: 8 }, (_, n) => thing(n));
      for (const data of rows) await old.things.create({ data });
      const db = await open(limited, ThingByCode);
      expect((await migrate(db, { accept: true })).status).toBe("done");
      expect((await db.things.scan()).items).toEqual([...rows].reverse());
      const { items } = await db.things.findMany({ where: { note: "n1", code: { gt: "c3" } } });
      expect(items.map(({ id }) => id)).toEqual(["t5", "t3", "t1"]);
      expect((await verifyIndexes(db)).status).toBe("clean");
    });
  });
});

it("values that move between rows in one commit move in both layouts", async () => {
  await withKv(async (kv) => {
    const place = {
      name: "places",
      schema: z.object({ id: z.string(), code: z.string(), rank: z.int() }),
      indexes: { byRank: { key: "rank", unique: true } },
    } as const;
    const old = await createDatabase({
      kv,
      models: { places: defineModel({ ...place, primaryKey: "id" }) },
    });
    for (const rank of [1, 2, 3]) {
      await old.places.create({ data: { id: `p${rank}`, code: `c${rank}`, rank } });
    }
    let commits = 0;
    const beside = interferingKv(kv, async () => {
      if (++commits > 12) return;
      const data = { rank: { increment: 1 } };
      await old.places.updateMany({ where: { rank: { gt: 0 } }, data, atomic: true });
    });
    const models = { places: defineModel({ ...place, primaryKey: "code" }) };
    const db = await createDatabase({ kv: beside, models });
    expect((await migrate(db, { accept: true })).status).toBe("done");
    expect((await verifyIndexes(db)).status).toBe("clean");
    expect(await db.places.findUnique({ where: { rank: 13 } })).toMatchObject({ code: "c1" });
    expect(await db.places.findUnique({ where: { code: "c3" } })).toMatchObject({ rank: 15 });
  });
});

describe("a change of the primary key is refused", () => {
  it("as long as rows written by hand lack the new key", async () => {
    await withKv(async (kv) => {
      const old = await open(kv, ThingById);
      await old.things.create({ data: thing(1) });
      await kv.set(["things", "t2"], { id: "t2", note: "n0" });
      const db = await open(kv, ThingByCode);
      const { status, unindexed } = await migrate(db, { accept: true });
      expect(status).toBe("key-unchanged");
      expect(unindexed).toMatchObject([
        { model: "things", id: "t2", indexes: ["primaryKey (code)"] },
      ]);
      expect((await old.things.scan()).items).toHaveLength(2);
      await old.things.update({ where: { id: "t2" }, data: { code: "c2" } });
      expect((await migrate(db, { accept: true })).status).toBe("done");
      expect(await db.things.findUnique({ where: { code: "c2" } })).toMatchObject({ id: "t2" });
    });
  });

  it.each([
    [
      "together with a change of its fields",
      async () => undefined,
      defineModel({
        ...things,
        schema: schema.extend({ more: z.string().optional() }),
        primaryKey: "code",
        indexes,
      }),
      "things.more: add-field",
    ],
    [
      "together with a change of its indexes",
      async () => undefined,
      defineModel({
        ...things,
        primaryKey: "code",
        indexes: { byNote: { key: "note", unique: true } },
      }),
      "things.byNote: rebuild-index",
    ],
    [
      "to another key than the one to which it changes",
      async (kv: Kv) => {
        const db = await open(crashingKv(kv, 4, "after"), ThingByCode);
        await expect(migrate(db, { accept: true })).rejects.toThrow(Crash);
      },
      defineModel({ ...things, primaryKey: "note", indexes: {} }),
      'A change of the primary key to ["code"] is not complete',
    ],
  ] as const)("%s", async (_, prepare, model, reason) => {
    await withKv(async (kv) => {
      const old = await open(kv, ThingById);
      await old.things.create({ data: thing(1) });
      await prepare(kv);
      const db = await createDatabase({ kv, models: { things: model as typeof ThingByCode } });
      const { status, plan } = await migrate(db, { accept: true });
      expect(status).toBe("blocked");
      expect(plan.steps[0]).toMatchObject({ kind: "change-primary-key", class: "breaking" });
      expect(plan.steps[0]?.blocked).toContain(reason);
      expect((await old.things.scan()).items).toEqual([thing(1)]);
    });
  });

  it("of rows that expire and are counted, or whose expiry times are not reported", async () => {
    await withKv(async (kv) => {
      const counted = { ...things, indexes, count: true } as const;
      const old = await open(kv, defineModel({ ...counted, primaryKey: "id" }));
      await old.things.create({ data: thing(1), expireIn: 60_000 });
      const db = await open(kv, defineModel({ ...counted, primaryKey: "code" }));
      const { plan } = await migrate(db, { accept: true });
      expect(plan.steps[0]?.blocked).toContain("expire and are counted");
    });
    await withKv(async (kv) => {
      const old = await open(denoKv(kv), ThingById);
      await old.things.create({ data: thing(1), expireIn: 60_000 });
      const { plan } = await migrate(await open(denoKv(kv), ThingByCode), { accept: true });
      expect(plan.steps[0]?.blocked).toContain("does not report when");
    });
  });

  it("if the first row that expires is created during the change", async () => {
    await withKv(async (kv) => {
      const counted = { ...things, indexes, count: true } as const;
      const old = await open(kv, defineModel({ ...counted, primaryKey: "id" }));
      for (let n = 1; n < 4; n++) await old.things.create({ data: thing(n) });
      let commits = 0;
      const beside = interferingKv(kv, async () => {
        if (++commits === 8) await old.things.create({ data: thing(7), expireIn: 60_000 });
      });
      const db = await open(beside, defineModel({ ...counted, primaryKey: "code" }));
      expect((await migrate(db, { accept: true })).status).toBe("blocked");
      expect(await old.things.count()).toBe(4);
      expect((await migrate(old, { accept: true })).status).toBe("done");
      expect((await verifyIndexes(old)).status).toBe("clean");
    });
  });

  it("until it is complete, the status lists its rows as an index", async () => {
    await withKv(async (kv) => {
      await fill(kv, 3);
      expect(await migrateUntil(kv, 6)).toBe(false);
      const status = await migrationStatus(await openById(kv));
      expect(status.models[0]?.indexes).toHaveProperty(["primaryKey (email)"]);
    });
  });
});

it.each([3, 6, 9])("deletes rows with others in both layouts (commit %i)", async (at) => {
  await withKv(async (kv) => {
    const Owner = defineModel({
      name: "owners",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
    });
    const pet = {
      name: "pets",
      schema: z.object({ id: z.string(), tag: z.string(), ownerId: z.string() }),
      indexes: { byOwner: { key: "ownerId" } },
      relations: { owner: belongsTo("owners", "ownerId", { onDelete: "cascade" }) },
    } as const;
    const models = { owners: Owner, pets: defineModel({ ...pet, primaryKey: "id" }) };
    const old = await createDatabase({ kv, models });
    for (const id of ["a", "b", "c"]) {
      await old.owners.create({ data: { id } });
      for (const n of [1, 2]) {
        await old.pets.create({ data: { id: `${id}${n}`, tag: `tag ${id}${n}`, ownerId: id } });
      }
    }
    const byTag = { owners: Owner, pets: defineModel({ ...pet, primaryKey: "tag" }) };
    const crashing = await createDatabase({ kv: crashingKv(kv, at, "after"), models: byTag });
    await expect(migrate(crashing, { accept: true })).rejects.toThrow(Crash);
    await old.owners.delete({ where: { id: "a" } });
    const db = await createDatabase({ kv, models: byTag });
    expect((await migrate(db, { accept: true })).status).toBe("done");
    expect((await db.pets.scan()).items.map(({ id }) => id)).toEqual(["b1", "b2", "c1", "c2"]);
    await expect(old.owners.delete({ where: { id: "b" } })).rejects.toThrow(PrimaryKeyDiffersError);
    await db.owners.delete({ where: { id: "b" } });
    expect((await db.pets.scan()).items.map(({ id }) => id)).toEqual(["c1", "c2"]);
    expect((await verifyIndexes(db)).status).toBe("clean");
  });
});
