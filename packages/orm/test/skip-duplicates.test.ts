import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel } from "../src/index.js";
import { denoKv } from "./faulty-kv.js";
import { rejection, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Account = defineModel({
  name: "accounts",
  schema: z.object({
    id: z.int(),
    email: z.string(),
    nicks: z.array(z.string()).default([]),
    amount: z.int().min(0).default(0),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byNick: { key: "nicks", each: true, unique: true },
  },
});

type NewAccount = { id: number; email: string; nicks?: string[]; amount?: number };

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = (on: Kv = kv) => createDatabase({ kv: on, models: { accounts: Account } });

/** What sequential inserts that do nothing on a conflict would leave, and report. */
function insertInOrder(stored: readonly NewAccount[], data: readonly NewAccount[]) {
  const keysOf = ({ id, email, nicks = [] }: NewAccount) => [
    `id ${id}`,
    `email ${email.toLowerCase()}`,
    ...nicks.map((nick) => `nick ${nick}`),
  ];
  const taken = new Set(stored.flatMap(keysOf));
  const created: NewAccount[] = [];
  const failed: number[] = [];
  for (const [position, row] of data.entries()) {
    if ((row.amount ?? 0) < 0) failed.push(position);
    else if (!keysOf(row).some((key) => taken.has(key))) {
      for (const key of keysOf(row)) taken.add(key);
      created.push(row);
    }
  }
  return { created, failed, skipped: data.length - created.length - failed.length };
}

const account = fc.record({
  id: fc.integer({ min: 0, max: 5 }),
  email: fc.constantFrom("a@x", "A@x", "b@x", "c@x", "d@x"),
  nicks: fc.uniqueArray(fc.constantFrom("n", "m", "o"), { maxLength: 2 }),
  amount: fc.constantFrom(0, 1, 2, -1),
});

describe("createMany with skipDuplicates", () => {
  it("leaves out what exists and what comes again, and reports the rest", async () => {
    const db = await open();
    await db.accounts.create({ data: { id: 1, email: "a@x" } });
    const { count, skipped, results } = await db.accounts.createMany({
      data: [
        { id: 1, email: "other@x" },
        { id: 2, email: "A@x" },
        { id: 3, email: "c@x" },
        { id: 4, email: "d@x", amount: -1 },
        { id: 3, email: "e@x" },
        { id: 5, email: "C@x" },
        { id: 4, email: "d@x" },
      ],
      skipDuplicates: true,
    });
    expect({ count, skipped }).toEqual({ count: 2, skipped: 4 });
    expect(results).toEqual([
      { ok: true, row: { id: 3, email: "c@x", nicks: [], amount: 0 } },
      { ok: false, position: 3, error: expect.objectContaining({ code: "KW_ROW_INVALID" }) },
      { ok: true, row: { id: 4, email: "d@x", nicks: [], amount: 0 } },
    ]);
    await expectIndexesToMatch(kv, Account);
  });

  it.each([
    ["an embedded database", (on: Kv) => on, false],
    ["an embedded database, in one commit", (on: Kv) => on, true],
    ["a database with Deno's limits", denoKv, false],
  ])("does what inserts one after another do, on %s", async (_, wrap, atomic) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(account, { maxLength: 3 }),
        fc.array(account, { maxLength: 12 }),
        async (before, input) => {
          const own = await openKv();
          try {
            const db = await open(wrap(own));
            const rows = before.map((row) => ({ ...row, amount: 0 }));
            const { created: stored } = insertInOrder([], rows);
            for (const row of stored) await db.accounts.create({ data: row });
            const data = atomic ? input.map((row) => ({ ...row, amount: 0 })) : input;
            const expected = insertInOrder(stored, data);
            const result = await db.accounts.createMany({ data, atomic, skipDuplicates: true });
            const failures = result.results.filter(({ ok }) => !ok);
            expect(result.results.flatMap((each) => (each.ok ? [each.row] : []))).toEqual(
              expected.created,
            );
            expect(failures.map((failure) => "position" in failure && failure.position)).toEqual(
              expected.failed,
            );
            expect([result.count, result.skipped]).toEqual([
              expected.created.length,
              expected.skipped,
            ]);
            const { items } = await db.accounts.scan();
            const all = [...stored, ...expected.created].sort((a, b) => a.id - b.id);
            expect(items).toEqual(all);
            await expectIndexesToMatch(own, Account);
          } finally {
            await own.close();
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it("creates each row exactly once among concurrent calls", async () => {
    const data = Array.from({ length: 250 }, (_, id) => ({ id, email: `${id}@x` }));
    const calls = [data, data.toReversed(), data.map((row) => ({ ...row, id: row.id + 1000 }))];
    const databases = await Promise.all(calls.map(() => open()));
    const results = await Promise.all(
      calls.map((rows, i) =>
        databases[i]!.accounts.createMany({ data: rows, skipDuplicates: true }),
      ),
    );
    expect(results.every(({ results: each }) => each.every(({ ok }) => ok))).toBe(true);
    const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
    expect(sum(results.map(({ count }) => count))).toBe(250);
    expect(sum(results.map(({ skipped }) => skipped))).toBe(500);
    await expectIndexesToMatch(kv, Account);
  });

  it("takes many rows with one key in few commits", async () => {
    const db = await open();
    let commits = 0;
    const counting = new Proxy(kv, {
      get(target, property) {
        if (property === "atomic") commits++;
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const counted = await open(counting as Kv);
    await db.accounts.create({ data: { id: 0, email: "0@x" } });
    commits = 0;
    const same = Array.from({ length: 500 }, (_, i) => ({ id: i % 2, email: `${i % 2}@x` }));
    const { count, skipped } = await counted.accounts.createMany({
      data: same,
      skipDuplicates: true,
    });
    expect({ count, skipped }).toEqual({ count: 1, skipped: 499 });
    expect(commits).toBeLessThan(5);
  });

  it("within a transaction sees its writes, and is all or nothing with them", async () => {
    const db = await open();
    const data = [
      { id: 1, email: "a@x" },
      { id: 2, email: "b@x" },
      { id: 2, email: "c@x" },
    ];
    const skipDuplicates = true;
    const result = await db.transaction(async (tx) => {
      await tx.accounts.create({ data: { id: 9, email: "A@x" } });
      const first = await tx.accounts.createMany({ data, skipDuplicates });
      const second = await tx.accounts.createMany({ data, skipDuplicates, atomic: true });
      return [first.count, first.skipped, second.count, second.skipped];
    });
    expect(result).toEqual([1, 2, 0, 3]);
    expect((await db.accounts.scan()).items.map(({ id }) => id)).toEqual([2, 9]);
    await expectIndexesToMatch(kv, Account);
  });

  it("calls hooks only for the rows that it considers, in order, and does not hide their errors", async () => {
    const before: number[] = [];
    const after: number[] = [];
    const db = await createDatabase({
      kv,
      models: { accounts: Account },
      hooks: {
        accounts: {
          beforeCreate: async ({ id }) => {
            before.push(id);
            // Without an order, the first row would be the last to be written.
            if (id === 1) await new Promise((resolve) => setTimeout(resolve, 5));
            if (id === 7) await other.accounts.create({ data: { id: 1, email: "z@x" } });
          },
          afterCreate: ({ id }) => void after.push(id),
        },
      },
    });
    const other = await open();
    const { results, skipped } = await db.accounts.createMany({
      data: [
        { id: 1, email: "a@x" },
        { id: 2, email: "a@x" },
        { id: 7, email: "q@x" },
        { id: 3, email: "c@x" },
      ],
      skipDuplicates: true,
    });
    expect([before, after, skipped]).toEqual([[1, 2, 7, 3], [1, 3], 1]);
    expect(results).toMatchObject([
      { ok: true, row: { id: 1 } },
      // The hook itself failed, for a row that it created.
      { ok: false, position: 2, error: { code: "KW_UNIQUE_CONSTRAINT" } },
      { ok: true, row: { id: 3 } },
    ]);
  });

  it("takes rows that refer to rows before them, and a later one if the first cannot be created", async () => {
    const Folder = defineModel({
      name: "folders",
      schema: z.object({ id: z.int(), parent: z.int().optional() }),
      primaryKey: "id",
      indexes: { byParent: { key: "parent" } },
      relations: { within: belongsTo("folders", "parent", { onDelete: "cascade" }) },
    });
    const db = await createDatabase({ kv, models: { folders: Folder } });
    const { results, skipped } = await db.folders.createMany({
      data: [
        { id: 1, parent: 8 },
        { id: 1 },
        { id: 2, parent: 1 },
        { id: 2 },
        { id: 3, parent: 2 },
      ],
      skipDuplicates: true,
    });
    expect(skipped).toBe(1);
    expect(results).toMatchObject([
      { ok: false, position: 0, error: { code: "KW_REFERENCE_MISSING" } },
      { ok: true, row: { id: 1 } },
      { ok: true, row: { id: 2, parent: 1 } },
      { ok: true, row: { id: 3, parent: 2 } },
    ]);
  });

  it("creates the first of two rows also if it takes longer to write", async () => {
    const Owner = defineModel({
      name: "owners",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
    });
    const Pet = defineModel({
      name: "pets",
      schema: z.object({ id: z.int(), owner: z.string().optional() }),
      primaryKey: "id",
      indexes: { byOwner: { key: "owner" } },
      relations: { keeper: belongsTo("owners", "owner") },
    });
    const db = await createDatabase({ kv, models: { owners: Owner, pets: Pet } });
    await db.owners.create({ data: { id: "ada" } });
    // The reference of the first row is read before its commit.
    const data = [{ id: 1, owner: "ada" }, { id: 1 }, { id: 2, owner: "bob" }, { id: 2 }];
    const { results, skipped } = await db.pets.createMany({ data, skipDuplicates: true });
    expect(skipped).toBe(1);
    expect(results).toMatchObject([
      { ok: true, row: { id: 1, owner: "ada" } },
      { ok: false, position: 2, error: { code: "KW_REFERENCE_MISSING" } },
      { ok: true, row: { id: 2 } },
    ]);
  });

  it("replaces a row that has expired, and refuses options that are not valid", async () => {
    const db = await open();
    await db.accounts.create({ data: { id: 1, email: "a@x" }, expireIn: 1 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const data = [{ id: 1, email: "a@x" }];
    const options = { skipDuplicates: true } as const;
    const invalid = db.accounts.createMany({ data, expireIn: -1, ...options });
    expect(await rejection(invalid)).toMatchObject({ argument: "expireIn" });
    expect(await db.accounts.createMany({ data, ...options })).toMatchObject({ count: 1 });
    expect(await db.accounts.createMany({ data, ...options })).toMatchObject({ skipped: 1 });
  });

  it("has a type that says so", async () => {
    const db = await createDatabase({ kv, models: { users: User } });
    const all = await db.users.createMany({
      data: [users.ada, users.ada],
      skipDuplicates: true,
      atomic: true,
      select: { name: true },
    });
    expectTypeOf(all.skipped).toEqualTypeOf<number>();
    expectTypeOf(all.results).toEqualTypeOf<
      readonly { readonly ok: true; readonly row: { name: string } }[]
    >();
    expect(all).toEqual({ count: 1, skipped: 1, results: [{ ok: true, row: { name: "Ada" } }] });
    const misuse = [
      // @ts-expect-error it is a boolean
      db.users.createMany({ data: [], skipDuplicates: "yes" }),
      // @ts-expect-error only createMany has it
      db.users.create({ data: users.bob, skipDuplicates: true }),
    ];
    for (const call of misuse) {
      expect(await rejection(call)).toMatchObject({ argument: "skipDuplicates" });
    }
  });
});
