import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  type OrmError,
} from "../src/index.js";
import { denoKv } from "./faulty-kv.js";
import { openDenoKv } from "./open-deno-kv.js";
import { entriesOf, rejection, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Folder = defineModel({
  name: "folders",
  schema: z.object({ id: z.int(), parent: z.int().optional() }),
  primaryKey: "id",
  indexes: { byParent: { key: "parent" } },
  relations: { within: belongsTo("folders", "parent", { onDelete: "cascade" }) },
});

const Account = defineModel({
  name: "accounts",
  schema: z.object({ id: z.int(), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true } },
});

async function openAccounts() {
  const kv = await openKv();
  return { kv, db: await createDatabase({ kv, models: { accounts: Account } }) };
}

let kv: EmbeddedKv;
let db: Database<{ users: typeof User }>;
beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: { users: User } });
});
afterEach(() => kv.close());

function people(count: number, from = 0) {
  return Array.from({ length: count }, (_, i) => ({
    name: `N${from + i}`,
    email: `n${from + i}@example.com`,
    favoriteColor: ["red", "green", "blue"][i % 3]!,
  }));
}

/** Counts the commits of a database, and the most changes that one of them had. */
function countingKv(target: Kv) {
  const counts = { commits: 0 };
  const counting = new Proxy(target, {
    get(_, property) {
      if (property === "atomic") {
        return () => {
          const operation = target.atomic();
          const commit = operation.commit.bind(operation);
          operation.commit = () => {
            counts.commits++;
            return commit();
          };
          return operation;
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  return { counting, counts };
}

describe("createMany", () => {
  it("says of each row in its place what has become of it, and writes all that can be written", async () => {
    const ada = await db.users.create({ data: users.ada });
    const { count, results } = await db.users.createMany({
      data: [
        users.bob,
        { ...users.cyd, email: "nobody" },
        { ...users.cyd, email: "ADA@example.com" },
        { ...users.cyd, name: "Cyd 1" },
        { ...users.cyd, name: "Cyd 2" },
        { name: 1 } as never,
      ],
    });
    expect(count).toBe(2);
    expect(results).toEqual([
      { ok: true, row: expect.objectContaining(users.bob) },
      { ok: false, position: 1, error: expect.objectContaining({ code: "KW_ROW_INVALID" }) },
      {
        ok: false,
        position: 2,
        error: expect.objectContaining({ code: "KW_UNIQUE_CONSTRAINT", ownerId: ada.id }),
      },
      { ok: true, row: expect.objectContaining({ name: "Cyd 1" }) },
      { ok: false, position: 4, error: expect.objectContaining({ code: "KW_UNIQUE_CONSTRAINT" }) },
      { ok: false, position: 5, error: expect.objectContaining({ code: "KW_ROW_INVALID" }) },
    ]);
    expect(await db.users.count()).toBe(3);
    await expectIndexesToMatch(kv, User);
  });

  it.each([
    ["an embedded database", (on: Kv) => on],
    ["a database with Deno's limits", denoKv],
  ])("takes rows that refer to rows before them, on %s", async (_, wrap) => {
    const folders = await createDatabase({ kv: wrap(kv), models: { folders: Folder } });
    const chain = Array.from({ length: 12 }, (_, i) => ({ id: i, ...(i && { parent: i - 1 }) }));
    expect((await folders.folders.createMany({ data: chain })).count).toBe(12);
    const children = Array.from({ length: 150 }, (_, i) => ({ id: 101 + i, parent: 100 }));
    const family = await folders.folders.createMany({ data: [{ id: 100 }, ...children] });
    expect(family.count).toBe(151);
    const { results } = await folders.folders.createMany({
      data: [
        { id: 500, parent: 501 },
        { id: 501, parent: 502 },
        { id: 502 },
        { id: 503, parent: 502 },
      ],
    });
    expect(results.map(({ ok }) => ok)).toEqual([false, false, true, true]);
  });

  it.each([
    ["an embedded database", (on: Kv) => on],
    ["a database with Deno's limits", denoKv],
  ])(
    "creates the first of the rows with one key, also if it takes longer, on %s",
    async (_, wrap) => {
      const Tag = defineModel({
        name: "tags",
        schema: z.object({
          id: z.int(),
          name: z.string().refine(async (name) => {
            if (name === "slow") await new Promise<void>((resolve) => setImmediate(resolve));
            return true;
          }),
          parent: z.int().optional(),
          rank: z.int().optional(),
        }),
        primaryKey: "id",
        indexes: {
          byName: { key: "name", unique: true },
          byRank: { key: "rank", ranked: true },
          byParent: { key: "parent" },
        },
        relations: { within: belongsTo("tags", "parent", { onDelete: "cascade" }) },
      });
      const { tags } = await createDatabase({ kv: wrap(kv), models: { tags: Tag } });
      const { results } = await tags.createMany({
        data: [
          // Rows with a rank or a parent need reads that the others do not need.
          { id: 1, name: "a", rank: 5 },
          { id: 1, name: "b" },
          { id: 2, name: "a" },
          { id: 3, name: "c", parent: 1 },
          { id: 3, name: "d" },
          { id: 4, name: "e", parent: 9 },
          { id: 4, name: "slow" },
          { id: 5, name: "slow", parent: 4 },
          { id: 4, name: "f" },
          { id: 6, name: "b" },
        ],
      });
      const outcomes = results.map((result) => {
        if (result.ok) return `${result.row.id} ${result.row.name}`;
        const { code, index } = result.error as OrmError & { index?: string };
        return [result.position, code, index];
      });
      expect(outcomes).toEqual([
        "1 a",
        [1, "KW_UNIQUE_CONSTRAINT", "primaryKey"],
        [2, "KW_UNIQUE_CONSTRAINT", "byName"],
        "3 c",
        [4, "KW_UNIQUE_CONSTRAINT", "primaryKey"],
        [5, "KW_REFERENCE_MISSING", undefined],
        "4 slow",
        [7, "KW_UNIQUE_CONSTRAINT", "byName"],
        [8, "KW_UNIQUE_CONSTRAINT", "primaryKey"],
        "6 b",
      ]);
    },
  );

  it("calls a hook once for each row that refers to one before it", async () => {
    const seen: unknown[] = [];
    const hooks = { folders: { beforeCreate: ({ id }: { id: number }) => void seen.push(id) } };
    const folders = await createDatabase({ kv, models: { folders: Folder }, hooks });
    const data = [{ id: 1 }, { id: 2, parent: 1 }, { id: 3, parent: 2 }];
    expect((await folders.folders.createMany({ data })).count).toBe(3);
    expect(seen).toEqual([1, 2, 3]);
  });

  it.each([
    ["an embedded database", (on: Kv) => on],
    ["a database with Deno's limits", denoKv],
  ])("does not wait for rows whose hooks wait for others, on %s", async (_, wrap) => {
    let turn = Promise.resolve();
    const ends = new Map<unknown, () => void>();
    const one = await createDatabase({
      kv: wrap(kv),
      models: { users: User },
      hooks: {
        users: {
          beforeCreate: async ({ name }) => {
            const before = turn;
            turn = new Promise((resolve) => ends.set(name, resolve));
            await before;
          },
          afterCreate: ({ name }) => ends.get(name)?.(),
        },
      },
    });
    expect((await one.users.createMany({ data: people(5) })).count).toBe(5);
  });

  it.each([
    ["an embedded database", (on: Kv) => on],
    ["a database with Deno's limits", denoKv],
  ])("tells of hooks that fail after a write, which stands, on %s", async (_, wrap) => {
    const failure = new Error("no mail");
    const hooked = await createDatabase({
      kv: wrap(kv),
      models: { users: User },
      hooks: {
        users: {
          afterCreate: ({ name }) => {
            if (name === "N1") throw failure;
          },
        },
      },
    });
    const { count, results } = await hooked.users.createMany({ data: people(3) });
    expect(count).toBe(3);
    expect(results).toEqual([
      { ok: true, row: expect.objectContaining({ name: "N0" }) },
      { ok: true, row: expect.objectContaining({ name: "N1" }), hookError: failure },
      { ok: true, row: expect.objectContaining({ name: "N2" }) },
    ]);
    expect(await hooked.users.count()).toBe(3);
  });

  it("lets timers run in between", async () => {
    let isDone = false;
    let turns = 0;
    const count = () => {
      turns++;
      if (!isDone) setTimeout(count, 0);
    };
    setTimeout(count, 0);
    await db.users.createMany({ data: people(500) });
    isDone = true;
    expect(turns).toBeGreaterThan(1);
  });

  it("creates nothing of an empty list, and refuses what is none", async () => {
    expect(await db.users.createMany({ data: [] })).toEqual({
      count: 0,
      skipped: 0,
      results: [],
    });
    expect(await db.users.createMany({ data: [], atomic: true })).toEqual({
      count: 0,
      skipped: 0,
      results: [],
    });
    const error = await rejection(db.users.createMany({ data: {} as never }));
    expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "data" });
  });

  it("throws what is the fault of the call, and writes nothing", async () => {
    for (const atomic of [true, false]) {
      const error = await rejection(db.users.createMany({ data: people(3), expireIn: -1, atomic }));
      expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", operation: "createMany" });
    }
    expect(await entriesOf(kv)).toEqual([]);
  });

  it("gives each row the versionstamp under which it is stored", async () => {
    for (const atomic of [true, false]) {
      const { results } = await db.users.createMany({
        data: people(5, atomic ? 0 : 5),
        atomic,
        withVersionstamp: true,
      });
      for (const result of results as unknown as {
        row: { row: { id: string }; versionstamp: string };
      }[]) {
        const stored = await kv.get(["users", result.row.row.id]);
        expect(result.row.versionstamp).toBe(stored.versionstamp);
      }
    }
  });

  it("makes one operation of 100 rows", async () => {
    const { counting, counts } = countingKv(kv);
    const counted = await createDatabase({ kv: counting, models: { users: User } });
    counts.commits = 0;
    expect(await counted.users.createMany({ data: people(250) })).toMatchObject({ count: 250 });
    expect(counts.commits).toBe(3);
    await expectIndexesToMatch(kv, User);
  });

  it("parses rows at the same time if their schema has to wait", async () => {
    await using kv = await openKv();
    let waiting: (() => void)[] = [];
    // Looks values up in batches of ten.
    const isKnown = () =>
      new Promise<boolean>((resolve) => {
        waiting.push(() => resolve(true));
        if (waiting.length < 10) return;
        for (const answer of waiting) answer();
        waiting = [];
      });
    const schema = z.object({ id: z.int(), name: z.string().refine(isKnown) });
    const Known = defineModel({ name: "known", schema, primaryKey: "id" });
    const db = await createDatabase({ kv, models: { known: Known } });
    const data = Array.from({ length: 10 }, (_, id) => ({ id, name: `name ${id}` }));
    expect((await db.known.createMany({ data })).count).toBe(10);
  });

  it("gives the results of single creates, whatever rows share keys", async () => {
    // If two keys of a row are taken, its error may name either of them.
    // Few values come again in the same group and in others. Of many values, only stored rows share.
    const rows = fc.constantFrom(300, 20_000, 1e9).chain((values) => {
      const email = fc
        .integer({ min: 0, max: values })
        .map((n) => (n % 97 === 0 ? "none" : `n${n}@x.org`));
      const row = fc.record({ id: fc.integer({ min: 0, max: values }), email });
      return fc.array(row, { minLength: 150, maxLength: 350 });
    });
    const stored = fc.array(fc.nat({ max: 349 }), { maxLength: 3 });
    const property = fc.asyncProperty(stored, rows, async (positions, data) => {
      const before = positions.flatMap((position) => data[position] ?? []);
      const [single, many] = [await openAccounts(), await openAccounts()];
      try {
        for (const { db: each } of [single, many])
          for (const one of before)
            await each.accounts.create({ data: one }).catch(() => undefined);
        const expected: unknown[] = [];
        for (const [position, one] of data.entries()) {
          try {
            expected.push({ ok: true, row: await single.db.accounts.create({ data: one }) });
          } catch (error) {
            expected.push({ ok: false, position, code: (error as OrmError).code });
          }
        }
        const { results } = await many.db.accounts.createMany({ data });
        const actual = results.map((each) =>
          each.ok
            ? each
            : { ok: false, position: each.position, code: (each.error as OrmError).code },
        );
        expect(actual).toEqual(expected);
        const all = { orderBy: { id: "asc" }, take: 400 } as const;
        const { items } = await single.db.accounts.findMany(all);
        expect((await many.db.accounts.findMany(all)).items).toEqual(items);
        await expectIndexesToMatch(many.kv, Account);
      } finally {
        await single.kv.close();
        await many.kv.close();
      }
    });
    await fc.assert(property, { numRuns: 12, endOnFailure: true });
  });

  it("lets a row and its entries expire together", async () => {
    await db.users.createMany({ data: people(3), expireIn: 60_000 });
    const expireAt: (number | undefined)[] = [];
    for await (const entry of kv.list({ prefix: [] })) {
      if (entry.key[0] !== "__keywright") expireAt.push(entry.expireAt);
    }
    expect(expireAt).toHaveLength(9);
    expect(expireAt.every((at) => at !== undefined && at > Date.now())).toBe(true);
  });

  it("calls the hooks of each row, whose errors are those of their rows", async () => {
    const after: string[] = [];
    const hooked = await createDatabase({
      kv,
      models: { users: User },
      hooks: {
        users: {
          beforeCreate: (data) => {
            if (data.name === "N1") throw new Error("not this one");
            return { ...data, favoriteColor: "pink" };
          },
          afterCreate: ({ name }) => {
            after.push(name);
          },
        },
      },
    });
    const { results } = await hooked.users.createMany({ data: people(3) });
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(after).toEqual(["N0", "N2"]);
    expect((await db.users.findMany({ where: { favoriteColor: "pink" } })).items).toHaveLength(2);
  });
});

describe("createMany with atomic", () => {
  it("writes all rows in one commit", async () => {
    const { counting, counts } = countingKv(kv);
    const counted = await createDatabase({ kv: counting, models: { users: User } });
    counts.commits = 0;
    const { count, results } = await counted.users.createMany({ data: people(1200), atomic: true });
    expect([count, results.length, counts.commits]).toEqual([1200, 1200, 1]);
    await expectIndexesToMatch(kv, User);
  });

  it("writes nothing where one row is invalid, and says which", async () => {
    const data = [users.ada, users.bob, { ...users.cyd, email: "nobody" }];
    const error = await rejection(db.users.createMany({ data, atomic: true }));
    expect(error).toMatchObject({ code: "KW_ROW_INVALID", operation: "createMany" });
    expect(error).toMatchObject({ position: 2 });
    expect(error.issues).toEqual([expect.objectContaining({ path: [2, "email"] })]);
    expect(await entriesOf(kv)).toEqual([]);
    const hooked = await createDatabase({
      kv,
      models: { users: User },
      hooks: { users: { beforeCreate: (row) => ({ ...row, email: "nobody" }) } },
    });
    const ofHook = rejection(hooked.users.createMany({ data: [users.ada], atomic: true }));
    expect(await ofHook).toMatchObject({ position: 0, issues: [{ path: [0, "email"] }] });
  });

  it("writes nothing where a unique value is taken, by a row of the list or another", async () => {
    const twins = [users.ada, { ...users.bob, email: users.ada.email }];
    expect(await rejection(db.users.createMany({ data: twins, atomic: true }))).toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      index: "byEmail",
      position: 1,
    });
    expect(await entriesOf(kv)).toEqual([]);
    const ada = await db.users.create({ data: users.ada });
    const before = await entriesOf(kv);
    const late = [users.bob, { ...users.cyd, email: users.ada.email }];
    expect(await rejection(db.users.createMany({ data: late, atomic: true }))).toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      ownerId: ada.id,
      position: 1,
    });
    expect(await entriesOf(kv)).toEqual(before);
  });

  it("writes nothing where a row refers to one that is not there, and says which", async () => {
    const trees = await createDatabase({ kv, models: { folders: Folder } });
    const data = [{ id: 1 }, { id: 2, parent: 1 }, { id: 3, parent: 9 }];
    const error = await rejection(trees.folders.createMany({ data, atomic: true }));
    expect(error).toMatchObject({ code: "KW_REFERENCE_MISSING", targetId: 9, position: 2 });
    expect(await entriesOf(kv)).toEqual([]);
  });

  it("throws what a hook throws as it is", async () => {
    await db.users.create({ data: users.ada });
    let thrown: Record<string, unknown> = {};
    const hooked = await createDatabase({
      kv,
      models: { users: User },
      hooks: {
        users: {
          beforeCreate: async () => {
            thrown = await rejection(db.users.create({ data: users.ada }));
            throw thrown;
          },
        },
      },
    });
    const error = await rejection(hooked.users.createMany({ data: people(2), atomic: true }));
    expect(error).toBe(thrown);
    expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", position: undefined });
  });

  it("is refused before anything is written where one commit cannot take it", async () => {
    for (const [limits, limit] of [
      [{ checks: 10 }, "checks"],
      [{ mutations: 20 }, "mutations"],
      [{ totalMutationBytes: 1000 }, "totalMutationBytes"],
    ] as const) {
      const small = await openKv(":memory:", { limits });
      try {
        const limited = await createDatabase({ kv: small, models: { users: User } });
        const error = await rejection(limited.users.createMany({ data: people(8), atomic: true }));
        expect(error).toMatchObject({ code: "KW_LIMIT_EXCEEDED", limit });
        expect(await entriesOf(small)).toEqual([]);
        const { count } = await limited.users.createMany({ data: people(8) });
        expect(count).toBe(8);
        await expectIndexesToMatch(small, User);
      } finally {
        await small.close();
      }
    }
  });
});

describe("createMany within a transaction", () => {
  it("is part of it", async () => {
    const failed = db.transaction(async (tx) => {
      await tx.users.createMany({ data: people(3) });
      await tx.users.createMany({ data: people(3, 3), atomic: true });
      expect(await tx.users.count()).toBe(6);
      expect(await db.users.count()).toBe(0);
      throw new Error("no");
    });
    expect(await rejection(failed)).toMatchObject({ message: "no" });
    expect(await entriesOf(kv)).toEqual([]);
    await db.transaction(async (tx) => {
      const { results } = await tx.users.createMany({ data: [users.ada, users.ada, users.bob] });
      expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
    });
    expect(await db.users.count()).toBe(2);
    await expectIndexesToMatch(kv, User);
  });

  it("with atomic leaves nothing of it where it fails, and all else", async () => {
    await db.transaction(async (tx) => {
      await tx.users.create({ data: users.ada });
      const data = [users.bob, { ...users.cyd, email: users.ada.email }];
      const error = await rejection(tx.users.createMany({ data, atomic: true }));
      expect(error.code).toBe("KW_UNIQUE_CONSTRAINT");
      expect(await tx.users.count()).toBe(1);
      await tx.users.createMany({ data: [users.cyd], atomic: true });
    });
    const names = (await db.users.scan()).items.map(({ name }) => name);
    expect(names.sort()).toEqual(["Ada", "Cyd"]);
    await expectIndexesToMatch(kv, User);
  });

  it("with atomic calls the hooks after the commit of the transaction, of what it wrote alone", async () => {
    const after: string[] = [];
    const hooked = await createDatabase({
      kv,
      models: { users: User },
      hooks: { users: { afterCreate: ({ name }) => void after.push(name) } },
    });
    await hooked.transaction(async (tx) => {
      await tx.users.createMany({ data: [users.ada], atomic: true });
      const failing = tx.users.createMany({ data: [users.bob, users.bob], atomic: true });
      expect((await rejection(failing)).code).toBe("KW_UNIQUE_CONSTRAINT");
      expect(after).toEqual([]);
    });
    expect(after).toEqual(["Ada"]);
  });
});

describe("createMany on a database that does not group commits itself", () => {
  it("puts as many rows into a commit as it takes, and the rows that fail into none", async () => {
    const { counting, counts } = countingKv(denoKv(kv));
    const limited = await createDatabase({ kv: counting, models: { users: User } });
    counts.commits = 0;
    // The schema is one check, and each row two.
    await limited.users.createMany({ data: people(100) });
    expect(counts.commits).toBe(25);
    const { results } = await limited.users.createMany({
      data: [...people(3, 100), users.ada, users.ada, ...people(3, 50), ...people(3, 200)],
    });
    expect(results.map(({ ok }) => ok)).toEqual([
      ...[true, true, true, true, false],
      ...[false, false, false, true, true, true],
    ]);
    await expectIndexesToMatch(kv, User);
  });

  it("halves commits whose bytes are too many, and blames a row that is too large alone", async () => {
    const Note = defineModel({
      name: "notes",
      schema: z.object({ id: z.string(), text: z.string() }),
      primaryKey: "id",
    });
    for (const open of [
      openDenoKv,
      () => openKv(":memory:", { compat: "deno" }),
      async () => denoKv(await openKv(":memory:", { compat: "deno" })),
    ]) {
      const deno = await open();
      try {
        const notes = await createDatabase({ kv: deno, models: { notes: Note } });
        const data = Array.from({ length: 40 }, (_, i) => ({
          id: `n${i}`,
          text: "x".repeat(i === 7 ? 70_000 : 60_000),
        }));
        const { count, results } = await notes.notes.createMany({ data });
        expect(count).toBe(39);
        expect(results.flatMap(({ ok }, i) => (ok ? [] : [i]))).toEqual([7]);
        expect(await notes.notes.count()).toBe(39);
      } finally {
        await deno.close();
      }
    }
  });

  it("lets rows of several calls at once have each value once", async () => {
    const limited = denoKv(kv);
    const clients = await Promise.all(
      [1, 2, 3].map(() => createDatabase({ kv: limited, models: { users: User } })),
    );
    const all = await Promise.all(
      clients.map((client) => client.users.createMany({ data: people(60) })),
    );
    expect(all.reduce((sum, { count }) => sum + count, 0)).toBe(60);
    expect(await db.users.count()).toBe(60);
    await expectIndexesToMatch(kv, User);
  });
});
