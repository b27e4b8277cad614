// What a program may still believe of a catalog that others have changed, and what not.
import { setTimeout as sleep } from "node:timers/promises";
import {
  type EmbeddedKv,
  type Kv,
  type KvKey,
  type KvListIterator,
  type KvView,
  openKv,
} from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineMigration,
  defineModel,
  hasMany,
  migrate,
} from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { withoutPages } from "./faulty-kv.js";
import { contextOf } from "./migration-run.js";
import { rejection } from "./user-model.js";

const schema = z.object({ id: z.string(), team: z.string() });
const base = { name: "players", schema, primaryKey: "id" } as const;
const Bare = defineModel(base);
const Player = defineModel({ ...base, indexes: { byTeam: { key: "team" } } });
const Counted = defineModel({
  ...base,
  count: true,
  indexes: { byTeam: { key: "team", count: true } },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const openCounted = () => createDatabase({ kv, models: { players: Counted } });
type CountedPlayers = Awaited<ReturnType<typeof openCounted>>;

async function fill({ players }: CountedPlayers, count: number): Promise<void> {
  const data = Array.from({ length: count }, (_, i) => ({ id: `${i}`, team: "red" }));
  await players.createMany({ data });
}

/** A database whose `get` waits behind its answer where `hold` says so. */
function heldKv(on: Kv, hold: (key: KvKey) => Promise<void> | undefined): Kv {
  return new Proxy(on, {
    get(target, property) {
      if (property === "get") {
        return async (key: KvKey) => {
          const entry = await target.get(key);
          await hold(key);
          return entry;
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

describe("a program that only reads", () => {
  it("counts right when another has dropped the counters", async () => {
    const reader = await openCounted();
    await fill(reader, 10);
    const other = await createDatabase({ kv, models: { players: Player } });
    expect((await migrate(other, { accept: true })).status).toBe("done");
    expect(await reader.players.count()).toBe(10);
    expect(await reader.players.count({ where: { team: "red" } })).toBe(10);
  });

  it("is told when another has dropped a counted index", async () => {
    const reader = await openCounted();
    await fill(reader, 10);
    const other = await createDatabase({ kv, models: { players: Bare } });
    expect((await migrate(other, { accept: true })).status).toBe("done");
    const error = await rejection(reader.players.count({ where: { team: "red" } }));
    expect(error.code).toBe("KW_INDEX_NOT_READY");
  });

  it("counts right while another repairs, which counts anew", async () => {
    const reader = await openCounted();
    await fill(reader, 600);
    const other = await openCounted();
    await kv.delete(["players_by_team", "red", "5"]);
    const seen = new Set<number>();
    let isDone = false;
    const repair = verifyIndexes(other, { repair: true }).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      seen.add(await reader.players.count());
      await sleep(10);
    }
    expect((await repair).status).toBe("repaired");
    expect([...seen]).toEqual([600]);
  });
});

it("an index that was dropped while a program was opened is not taken for readable", async () => {
  const players = await openCounted();
  await fill(players, 20);
  // A schema that the database does not know has opening read more than the catalog.
  const Later = defineModel({
    ...Player,
    schema: schema.extend({ note: z.string().optional() }),
  });
  let [hasBegun, begun] = [false, (): void => undefined];
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const slow = heldKv(kv, (key) => {
    if (key[1] !== "schema" || hasBegun) return undefined;
    hasBegun = true;
    begun();
    return dropped;
  });
  const dropped = beginning
    .then(() => createDatabase({ kv, models: { players: Bare } }))
    .then((other) => migrate(other, { accept: true }))
    .then(() => undefined);
  const db = await createDatabase({ kv: slow, models: { players: Later } });
  const error = await rejection(db.players.findMany({ where: { team: "red" } }));
  expect(error.code).toBe("KW_INDEX_NOT_READY");
});

it("a catalog that was read earlier does not take the place of one read later", async () => {
  const before = z.object({ id: z.string(), score: z.number() });
  const after = z.object({ id: z.string(), score: z.int() });
  const Old = defineModel({ name: "games", schema: before, primaryKey: "id" });
  const New = defineModel({ name: "games", schema: after, primaryKey: "id" });
  const times = (up: (row: { id: string; score: number }) => { id: string; score: number }) =>
    defineMigration({ model: New, from: before, to: after, up });
  const tenfold = times((row) => ({ ...row, score: Math.trunc(row.score * 10) }));
  const old = await createDatabase({ kv, models: { games: Old } });
  await old.games.createMany({
    data: [
      { id: "1", score: 1.5 },
      { id: "2", score: 2.5 },
    ],
  });

  let hold: Promise<void> | undefined;
  const slow = heldKv(kv, (key) => {
    if (key[1] !== "schema") return undefined;
    const own = hold;
    hold = undefined;
    return own;
  });
  const reader = await createDatabase({ kv: slow, models: { games: New }, migrations: [tenfold] });
  const find = async () => (await reader.games.findUnique({ where: { id: "1" } }))?.score;
  expect(await find()).toBe(15);
  // The catalog changes, so that a reload reads more than it.
  await old.games.create({ data: { id: "9", score: 9 }, expireIn: 1e9 });
  let release = (): void => undefined;
  hold = new Promise((resolve) => {
    release = resolve;
  });
  const slowReload = contextOf(reader, "games").catalog.reload();
  while (hold !== undefined) await sleep(1);

  // Another process changes the rows, but for one that fails.
  const failing = times((row) => {
    if (row.id === "2") throw new Error("not this one");
    return { ...row, score: Math.trunc(row.score * 10) };
  });
  const runner = await createDatabase({ kv, models: { games: New }, migrations: [failing] });
  expect((await migrate(runner)).status).toBe("failed-rows");
  expect(await find()).toBe(15);
  release();
  await slowReload;
  expect(await find()).toBe(15);
});

describe("how long a catalog may be relied on", () => {
  it("is longer on a database that other processes use, and so is the wait of a removal", async () => {
    const shared = new Proxy(kv, {
      get(target, property) {
        if (property === "isShared") return true;
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const times = async (on: Kv) => {
      const db = await createDatabase({ kv: on, models: { players: Player } });
      const { maxAgeMs, readerGraceMs } = contextOf(db, "players").catalog;
      return { maxAgeMs, readerGraceMs };
    };
    expect(await times(kv)).toEqual({ maxAgeMs: 100, readerGraceMs: 200 });
    expect(await times(shared)).toEqual({ maxAgeMs: 250, readerGraceMs: 1000 });
  });
});

/** A database that calls `interfere` after each read of several entries of a view. */
function afterLists(kv: Kv, interfere: () => Promise<void>): Kv {
  const on = withoutPages(kv);
  const wrapped = <T extends object>(target: T, methods: Record<string, unknown>): T =>
    new Proxy(target, {
      get(_, property) {
        const own = methods[property as string];
        if (own !== undefined) return own;
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  const listOf = (list: KvListIterator<unknown>) => {
    const later = (method: "next" | "nextBatch") => async () => {
      const result = await list[method]!();
      await interfere();
      return result;
    };
    return wrapped(list, { next: later("next"), nextBatch: later("nextBatch") });
  };
  const viewOf = (view: KvView) =>
    wrapped(view, { list: (...of: Parameters<Kv["list"]>) => listOf(view.list(...of)) });
  const openView: Kv["openView"] = (options) => viewOf(on.openView!(options) as KvView);
  return wrapped(on, { openView });
}

describe.each([
  ["plain", {}],
  ["counted", { count: true }],
])("a long call, when a migration changes the %s index of related rows", (_, counted) => {
  const user = { name: "users", schema: z.object({ id: z.int() }), primaryKey: "id" } as const;
  const post = {
    name: "posts",
    schema: z.object({ id: z.int(), userId: z.int() }),
    primaryKey: "id",
  } as const;
  const User = defineModel({ ...user, relations: { posts: hasMany("posts", "userId") } });
  const Post = defineModel({
    ...post,
    indexes: { byUser: { key: "userId", ...counted } },
    relations: { user: belongsTo("users", "userId") },
  });
  const models = { users: User, posts: Post };
  /** Migrates as another program, which has no relations. */
  async function migrateTo(indexes: object): Promise<void> {
    const bare = { users: defineModel(user), posts: defineModel({ ...post, indexes } as never) };
    const other = await createDatabase({ kv, models: bare });
    expect(await migrate(other, { accept: true })).toMatchObject({ status: "done" });
  }
  async function migrateToModels(): Promise<void> {
    const other = await createDatabase({ kv, models });
    expect(await migrate(other, { accept: true })).toMatchObject({ status: "done" });
  }
  type Db = Awaited<ReturnType<typeof openModels>>;
  const openModels = (on: Kv) => createDatabase({ kv: on, models });

  /** Numbers of posts, which each way to read gives for two users with five posts each. */
  const reads: Record<string, (db: Db) => Promise<readonly number[]>> = {
    include: async ({ users }) => {
      const page = await users.findMany({ orderBy: { id: "asc" }, include: { posts: true } });
      return page.items.map(({ posts }) => posts.length);
    },
    "include in a stream": async ({ users }) => {
      const found = users.findMany({ orderBy: { id: "asc" }, include: { posts: true } });
      const numbers: number[] = [];
      for await (const { posts } of found) numbers.push(posts.length);
      return numbers;
    },
    "include of a count": async ({ users }) => {
      const include = { _count: { posts: true } } as const;
      const page = await users.findMany({ orderBy: { id: "asc" }, include });
      return page.items.map(({ _count }) => _count.posts);
    },
    "a condition on them": async ({ users }) => {
      const where = { posts: { none: {} } };
      const without = (await users.findMany({ where, orderBy: { id: "asc" } })).items;
      return [0, 1].map((id) => (without.some((row) => row.id === id) ? 0 : 5));
    },
  };

  async function fill(): Promise<void> {
    const db = await createDatabase({
      kv,
      models: { users: defineModel(user), posts: defineModel(post) },
    });
    await db.users.createMany({ data: [{ id: 0 }, { id: 1 }] });
    const data = Array.from({ length: 10 }, (_, id) => ({ id, userId: id % 2 }));
    await db.posts.createMany({ data });
  }

  /** Reads while another program migrates after the first page of users was read. */
  async function readDuring(
    read: (db: Db) => Promise<readonly number[]>,
    change: () => Promise<void>,
  ): Promise<readonly number[]> {
    let hasChanged = false;
    const db = await openModels(
      afterLists(kv, async () => {
        if (hasChanged) return;
        hasChanged = true;
        await change();
        // Another call of the program reads the catalog.
        await contextOf(db, "posts").catalog.reload();
      }),
    );
    const result = await read(db);
    expect(hasChanged).toBe(true);
    return result;
  }

  it.each(Object.entries(reads))("finds all rows if it is built: %s", async (_, read) => {
    await fill();
    expect(await readDuring(read, migrateToModels)).toEqual([5, 5]);
  });

  it.each(Object.entries(reads))("finds all rows if it is moved: %s", async (_, read) => {
    await fill();
    await migrateToModels();
    const change = async () => {
      await migrateTo({ byUser: { key: ["userId", "id"] } });
      await migrateTo({ byUser: { key: ["id", "userId"] } });
      await migrateToModels();
    };
    expect(await readDuring(read, change)).toEqual([5, 5]);
  });
});
