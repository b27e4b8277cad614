import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, type Database, defineModel, migrate } from "../src/index.js";
import { denoKv, interferingKv, lateKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Session = defineModel({
  name: "sessions",
  schema: z.object({
    id: z.string(),
    token: z.string(),
    user: z.string(),
    tags: z.array(z.string()).default([]),
  }),
  primaryKey: "id",
  indexes: {
    byToken: { key: "token", unique: true },
    byUser: { key: "user" },
    byTag: { key: "tags", each: true, store: "copy" },
  },
});
const session = { id: "a", token: "t", user: "ada", tags: ["x", "y"] };
const where = { id: "a" };
const start = 1_800_000_000_000;

type Sessions = Database<{ sessions: typeof Session }>;

let kv: EmbeddedKv;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  kv = await openKv();
});
afterEach(async () => {
  await kv.close();
  vi.useRealTimers();
});

const passes = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

/** When what is stored of the model expires: each time once. Then how many entries there are. */
async function stored(): Promise<{ times: (number | undefined)[]; entries: number }> {
  const times = new Set<number | undefined>();
  let entries = 0;
  for await (const { key, expireAt } of kv.list({ prefix: [] })) {
    if (key[0] === "__keywright" && key[1] !== "expiry") continue;
    times.add(expireAt);
    entries++;
  }
  return { times: [...times].map((time) => time && time - start), entries };
}

describe.each([
  ["that tells when entries expire", (on: Kv) => on, 0],
  ["that does not", denoKv, 1],
] as const)("on a database %s", (_, wrap, records) => {
  const open = (on: Kv = kv) => createDatabase({ kv: wrap(on), models: { sessions: Session } });

  it("a row and all of its entries expire together", async () => {
    const db = await open();
    await db.sessions.create({ data: session, expireIn: 1000 });
    expect(await stored()).toEqual({ times: [1000], entries: 5 + records });
    passes(1000);
    expect((await stored()).entries).toBe(0);
    await db.sessions.create({ data: session });
    expect(await stored()).toEqual({ times: [undefined], entries: 5 });
  });

  it("an update keeps the time that is left, for all of them", async () => {
    const db = await open();
    await db.sessions.create({ data: session, expireIn: 1000 });
    passes(400);
    await db.sessions.update({ where, data: { tags: ["y", "z", "w"] } });
    expect(await stored()).toEqual({ times: [1000], entries: 6 + records });
    await db.sessions.update({ where: { token: "t" }, data: { token: "other" } });
    expect(await stored()).toEqual({ times: [1000], entries: 6 + records });
  });

  it("an update gives another time, for all of them", async () => {
    const db = await open();
    await db.sessions.create({ data: session });
    await db.sessions.update({ where, data: { user: "bob" }, expireIn: 500 });
    expect(await stored()).toEqual({ times: [500], entries: 5 + records });
    passes(100);
    await db.sessions.update({ where, data: {}, expireIn: 500 });
    expect(await stored()).toEqual({ times: [600], entries: 5 + records });
  });

  it("a delete leaves nothing behind", async () => {
    const db = await open();
    await db.sessions.create({ data: session, expireIn: 1000 });
    await db.sessions.delete({ where });
    expect((await stored()).entries).toBe(0);
    await db.sessions.create({ data: session });
    await db.sessions.update({ where, data: { user: "bob" } });
    expect(await stored()).toEqual({ times: [undefined], entries: 5 });
  });

  it("an upsert does what it comes to", async () => {
    const db = await open();
    const call = () => db.sessions.upsert({ where, create: session, update: {}, expireIn: 1000 });
    await call();
    passes(10);
    await call();
    expect(await stored()).toEqual({ times: [1010], entries: 5 + records });
  });

  it("a row that expires between its look and its commit is not there", async () => {
    const db = await open();
    await db.sessions.create({ data: session, expireIn: 1000 });
    const late = await open(interferingKv(kv, async () => void passes(2000)));
    const error = await rejection(late.sessions.update({ where, data: { user: "bob" } }));
    expect(error.code).toBe("KW_ROW_NOT_FOUND");
    expect((await stored()).entries).toBe(0);
  });

  it("a program that was opened before the first of them keeps their time too", async () => {
    const [early, other] = [await open(), await open()];
    await other.sessions.create({ data: session, expireIn: 1000 });
    passes(1);
    await early.sessions.update({ where, data: { user: "bob" } });
    expect(await stored()).toEqual({ times: [1000], entries: 5 + records });
  });

  it("rows that expire are written within a transaction", async () => {
    const db = await open();
    await db.transaction(async (tx) => {
      await tx.sessions.create({ data: session, expireIn: 1000 });
      await tx.sessions.update({ where, data: { user: "bob" } });
    });
    await db.transaction(async (tx) => {
      await tx.sessions.update({ where, data: { user: "cyd" } });
    });
    expect(await stored()).toEqual({ times: [1000], entries: 5 + records });
  });

  it("an update keeps the time however long its commit takes, plainly and in transactions", async () => {
    const db = await open();
    await db.sessions.create({ data: session, expireIn: 1000 });
    const slow = await open(interferingKv(kv, async () => void passes(10)));
    // The first attempt and its commit take ten milliseconds each.
    await slow.transaction(async (tx) => {
      await tx.sessions.update({ where, data: { user: "bob" } });
      passes(50);
    });
    await slow.sessions.updateMany({ where: { user: "bob" }, data: { token: "other" } });
    await db.transaction(async (outer) => {
      await outer.sessions.updateMany({
        where: { user: "bob" },
        atomic: true,
        data: { user: "cyd" },
      });
      passes(50);
    });
    const { times } = await stored();
    expect(times).toHaveLength(1);
    // A commit that itself is slow is late by that, and by nothing before it.
    expect(times[0]).toBeLessThanOrEqual(1020);
    expect(times[0]).toBeGreaterThanOrEqual(1000);
  });

  it("updates in transactions do not keep a row alive", async () => {
    const db = await open();
    await db.sessions.create({ data: session, expireIn: 300 });
    let updates = 0;
    const touch = () =>
      db.transaction(async (tx) => {
        await tx.sessions.update({ where, data: { user: `u${updates++}` } });
        passes(50);
      });
    for (let i = 0; i < 5; i++) await touch();
    expect(await stored()).toEqual({ times: [300], entries: 5 + records });
    expect((await rejection(touch())).code).toBe("KW_ROW_NOT_FOUND");
    expect((await stored()).entries).toBe(0);
  });

  it("a time that is asked for counts from the commit of the transaction", async () => {
    const db = await open();
    await db.transaction(async (tx) => {
      await tx.sessions.create({ data: session, expireIn: 1000 });
      passes(50);
    });
    const { times, entries } = await stored();
    expect(entries).toBe(5 + records);
    expect(times).toEqual([1050]);
  });

  it("the unique value of a row that has expired is free", async () => {
    const db = await open();
    await db.sessions.create({ data: session, expireIn: 1000 });
    const again = { ...session, id: "b" };
    expect((await rejection(db.sessions.create({ data: again }))).code).toBe(
      "KW_UNIQUE_CONSTRAINT",
    );
    passes(1000);
    expect(await db.sessions.create({ data: again })).toEqual(again);
  });
});

describe("on a database that clears up late", () => {
  const late = () => lateKv(denoKv(kv));
  const open = () => createDatabase({ kv: late(), models: { sessions: Session } });
  const again = { id: "a", token: "other", user: "bob", tags: ["y"] };

  /** A session whose time is over, and which is still there. */
  async function expired(): Promise<Awaited<ReturnType<typeof open>>> {
    const db = await open();
    await db.sessions.create({ data: session, expireIn: 1000 });
    passes(1000);
    expect(await db.sessions.findUnique({ where })).toEqual(session);
    return db;
  }

  it.each(["update", "delete"] as const)(
    "%s does not find a row that has expired",
    async (name) => {
      const db = await expired();
      const before = await stored();
      const plain = () =>
        name === "update"
          ? db.sessions.update({ where, data: { user: "bob" } })
          : db.sessions.delete({ where });
      expect(await rejection(plain())).toMatchObject({ code: "KW_ROW_NOT_FOUND", where });
      expect((await rejection(db.transaction((tx) => tx.sessions.delete({ where })))).code).toBe(
        "KW_ROW_NOT_FOUND",
      );
      const longer = db.sessions.update({ where, data: {}, expireIn: 5000 });
      expect((await rejection(longer)).code).toBe("KW_ROW_NOT_FOUND");
      expect(await db.sessions.updateMany({ where: { user: "ada" }, data: {} })).toEqual({
        count: 0,
        results: [],
      });
      expect((await db.sessions.deleteMany({ where: { user: "ada" } })).results).toEqual([]);
      expect(await stored()).toEqual(before);
    },
  );

  it.each([
    ["create", undefined],
    ["create", 500],
    ["upsert", undefined],
    ["a transaction", 500],
  ] as const)("%s puts a new row in its place, expireIn %s", async (name, expireIn) => {
    const db = await expired();
    const options = { ...(expireIn !== undefined && { expireIn }) };
    const data = { ...again };
    if (name === "create") await db.sessions.create({ data, ...options });
    else if (name === "upsert") {
      await db.sessions.upsert({ where, create: data, update: { user: "wrong" } });
    } else await db.transaction((tx) => tx.sessions.create({ data, ...options }));
    await expectIndexesToMatch(kv, Session);
    expect(await db.sessions.findUnique({ where: { token: "t" } })).toBeNull();
    const at = await kv.get(["__keywright", "expiry", "sessions", "a"]);
    expect(at.value).toBe(expireIn === undefined ? null : Date.now() + expireIn);
    // It is a row like any other.
    expect((await db.sessions.update({ where, data: { user: "cyd" } })).user).toBe("cyd");
    expect((await rejection(db.sessions.create({ data }))).code).toBe("KW_UNIQUE_CONSTRAINT");
  });

  it("its unique values are free, and stay with the row that took them", async () => {
    const db = await expired();
    const other = { ...session, id: "b" };
    expect(await db.sessions.create({ data: other })).toEqual(other);
    await db.sessions.create({ data: again });
    expect(await db.sessions.findUnique({ where: { token: "t" } })).toEqual(other);
    const same = { ...session, id: "c" };
    expect((await rejection(db.sessions.create({ data: same }))).code).toBe("KW_UNIQUE_CONSTRAINT");
    await expectIndexesToMatch(kv, Session);
  });

  it("the same unique values go from the old row to the new one, unless another has them", async () => {
    const db = await expired();
    expect(await db.sessions.create({ data: session })).toEqual(session);
    await expectIndexesToMatch(kv, Session);
    await db.sessions.update({ where, data: {}, expireIn: 10 });
    passes(10);
    await db.sessions.create({ data: { ...session, id: "b" } });
    expect(await rejection(db.sessions.create({ data: session }))).toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      ownerId: "b",
    });
  });

  it("a new row in its place refers to what is there", async () => {
    const Note = defineModel({
      name: "notes",
      schema: z.object({ id: z.string(), userId: z.string() }),
      primaryKey: "id",
      indexes: { byUser: { key: "userId" } },
      relations: { user: belongsTo("users", "userId", { onDelete: "cascade" }) },
    });
    const User = defineModel({
      name: "users",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
    });
    let isGoing = false;
    const racing = interferingKv(late(), async () => {
      if (isGoing) await kv.delete(["users", "u"]);
    });
    const db = await createDatabase({ kv: racing, models: { notes: Note, users: User } });
    await db.users.create({ data: { id: "u" } });
    const note = { id: "n", userId: "u" };
    await db.notes.create({ data: note, expireIn: 10 });
    passes(10);
    // After the first look, and before the one that finds the old row.
    isGoing = true;
    expect((await rejection(db.notes.create({ data: note }))).code).toBe("KW_REFERENCE_MISSING");
  });
});

it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "1000", null])(
  "refuses %j",
  async (expireIn) => {
    const db = await createDatabase({ kv, models: { sessions: Session } });
    const invalid = { code: "KW_ARGUMENT_INVALID", argument: "expireIn" };
    const options = { expireIn: expireIn as number };
    expect(await rejection(db.sessions.create({ data: session, ...options }))).toMatchObject(
      invalid,
    );
    await db.sessions.create({ data: session });
    expect(await rejection(db.sessions.update({ where, data: {}, ...options }))).toMatchObject(
      invalid,
    );
    expect(await stored()).toEqual({ times: [undefined], entries: 5 });
  },
);

it("does not touch the catalog for rows that do not expire, and once for those that do", async () => {
  const db = await createDatabase({ kv, models: { sessions: Session } });
  const epoch = async () => (await kv.get(["__keywright", "catalog", "sessions"])).versionstamp;
  const before = await epoch();
  await db.sessions.create({ data: session });
  expect(await epoch()).toBe(before);
  await db.sessions.update({ where, data: {}, expireIn: 5 });
  const marked = await epoch();
  expect(marked).not.toBe(before);
  await db.sessions.update({ where, data: {}, expireIn: 5 });
  expect(await epoch()).toBe(marked);
});

it("a new index's entries expire with the rows that are there already", async () => {
  const kv = await openKv();
  try {
    const schema = z.object({ id: z.string(), name: z.string() });
    const Old = defineModel({ name: "notes", schema, primaryKey: "id" });
    const old = await createDatabase({ kv, models: { notes: Old } });
    await old.notes.create({ data: { id: "1", name: "gone" }, expireIn: 60_000 });
    await old.notes.create({ data: { id: "2", name: "here" } });
    const indexes = {
      byName: { key: "name", unique: true },
      byCopy: { key: "name", store: "copy" },
    } as const;
    const New = defineModel({ name: "notes", schema, primaryKey: "id", indexes });
    const db = await createDatabase({ kv, models: { notes: New } });
    await migrate(db);
    const expiries: [unknown, boolean][] = [];
    for (const key of [
      ["notes_by_name", "gone"],
      ["notes_by_copy", "gone", "1"],
    ]) {
      expiries.push([key[0], "expireAt" in (await kv.get(key))]);
    }
    expect(expiries).toEqual([
      ["notes_by_name", true],
      ["notes_by_copy", true],
    ]);
    expect("expireAt" in (await kv.get(["notes_by_name", "here"]))).toBe(false);
  } finally {
    await kv.close();
  }
});

describe("a change keeps the lifetime of another row that", () => {
  const Issue = defineModel({
    name: "issues",
    schema: z.object({ id: z.string(), priority: z.int() }),
    primaryKey: "id",
  });
  const Link = defineModel({
    name: "links",
    schema: z.object({
      id: z.string(),
      issueId: z.string().nullable(),
      priority: z.int().default(0),
    }),
    primaryKey: "id",
    indexes: { byIssue: { key: "issueId", count: true } },
    relations: {
      issue: belongsTo("issues", "issueId", {
        onDelete: "setNull",
        copy: { priority: "priority" },
      }),
    },
  });
  const openLinks = (on: Kv) => createDatabase({ kv: on, models: { issues: Issue, links: Link } });
  type Links = Awaited<ReturnType<typeof openLinks>>;
  const data = { priority: 2 };

  it.each<[string, (db: Links) => Promise<unknown>]>([
    ["copies a field, update", (db) => db.issues.update({ where, data })],
    [
      "copies a field, upsert",
      (db) => db.issues.upsert({ where, create: { id: "a", ...data }, update: data }),
    ],
    ["copies a field, updateMany", (db) => db.issues.updateMany({ filter: () => true, data })],
    [
      "copies a field, transaction",
      (db) => db.transaction((tx) => tx.issues.update({ where, data })),
    ],
    [
      "copies a field, nested",
      (db) => db.links.update({ where, data: { issue: { update: data } } }),
    ],
    ["copies a field, expireIn", (db) => db.issues.update({ where, data, expireIn: 5000 })],
    ["refers to a deleted row", (db) => db.issues.delete({ where })],
  ])("%s", async (_, change) => {
    const compat = await openKv(undefined, { compat: "deno" });
    for (const [raw, on] of [
      [kv, kv],
      [kv, denoKv(kv)],
      [compat, compat],
    ] as const) {
      const db = await openLinks(on);
      await db.issues.create({ data: { id: "a", priority: 1 } });
      await db.links.create({ data: { id: "a", issueId: "a" }, expireIn: 1000 });
      passes(400);
      await change(db);
      const { expireAt } = (await raw.get(["links", "a"])) as { expireAt?: number };
      expect(expireAt).toBe(Date.now() + 600);
      passes(600);
      expect(await db.links.findUnique({ where })).toBeNull();
      expect(await db.links.count()).toBe(0);
      await db.issues.deleteMany({ filter: () => true });
    }
    await compat.close();
  });
});

it.each<[string, (db: Sessions) => Promise<unknown>]>([
  [
    "updateMany, atomic",
    (db) => db.sessions.updateMany({ filter: () => true, data: { user: "bob" }, atomic: true }),
  ],
  [
    "findUnique, then update",
    (db) =>
      db.transaction(async (tx) => {
        await tx.sessions.findUnique({ where });
        await tx.sessions.update({ where, data: { user: "bob" } });
      }),
  ],
  [
    "scan, then upsert",
    (db) =>
      db.transaction(async (tx) => {
        await tx.sessions.scan();
        await tx.sessions.upsert({ where, create: session, update: { user: "bob" } });
      }),
  ],
])("an update after a read in one transaction keeps the lifetime: %s", async (_, change) => {
  const deno = await openKv(undefined, { compat: "deno" });
  try {
    const db = await createDatabase({ kv: deno, models: { sessions: Session } });
    await db.sessions.create({ data: session, expireIn: 1000 });
    passes(400);
    await change(db);
    passes(600);
    expect(await db.sessions.findUnique({ where })).toBeNull();
    expect(await db.sessions.findUnique({ where: { token: "t" } })).toBeNull();
    await db.sessions.create({ data: session });
    await expectIndexesToMatch(deno, Session);
  } finally {
    await deno.close();
  }
});
