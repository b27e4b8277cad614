import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineModel,
  hasMany,
  migrate,
  type Page,
} from "../src/index.js";
import { rejection } from "./user-model.js";

const User = defineModel({
  name: "users",
  schema: z.object({
    tenantId: z.string(),
    id: z.string(),
    email: z.string(),
    score: z.int(),
    region: z.string().default("eu"),
  }),
  primaryKey: ["tenantId", "id"],
  count: true,
  live: true,
  indexes: {
    byEmail: { key: ["tenantId", "email"], unique: true },
    byScore: {
      key: ["tenantId", "score"],
      count: true,
      sum: ["score"],
      max: ["region"],
      ranked: true,
    },
    byRegionAndScore: { key: ["region", "tenantId"], ranked: true },
    byRegion: { key: "region" },
    byRegionOfTenant: { key: ["region", "tenantId"], include: ["email"] },
  },
  relations: { posts: hasMany("posts", ["tenantId", "authorId"]) },
});
// The primary key of a post does not have the tenant.
const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    tenantId: z.string(),
    authorId: z.string(),
    parentId: z.string().nullable().default(null),
    country: z.string().nullable().default(null),
  }),
  primaryKey: "id",
  indexes: {
    byTenant: { key: "tenantId", count: true },
    byAuthor: { key: ["tenantId", "authorId"], count: true },
    byParent: { key: ["parentId", "tenantId"] },
    byCountry: { key: "country" },
  },
  relations: {
    author: belongsTo("users", ["tenantId", "authorId"], { onDelete: "cascade" }),
    parent: belongsTo("posts", "parentId", { onDelete: "cascade" }),
    replies: hasMany("posts", "parentId"),
    of: belongsTo("countries", "country"),
  },
});
const Country = defineModel({
  name: "countries",
  schema: z.object({ code: z.string() }),
  primaryKey: "code",
});
const models = { users: User, posts: Post, countries: Country };

const call = async (run: () => unknown) => await run();

describe("a scope", () => {
  let kv: EmbeddedKv;

  beforeEach(async () => {
    kv = await openKv();
  });
  afterEach(() => kv.close());

  async function open() {
    const db = await createDatabase({ kv, models });
    const acme = db.scope({ tenantId: "acme" });
    const zeta = db.scope({ tenantId: "zeta" });
    await db.countries.create({ data: { code: "fr" } });
    for (const [tenant, score] of [
      [acme, 1],
      [zeta, 9],
    ] as const) {
      await tenant.users.create({ data: { id: "u", email: "a@x", score } });
    }
    await acme.posts.create({ data: { id: "a", authorId: "u", country: "fr" } });
    await zeta.posts.create({ data: { id: "z", authorId: "u" } });
    return { db, acme, zeta };
  }

  it("orders and restricts included rows by an index whose key has the scope", async () => {
    const { acme } = await open();
    await acme.posts.createMany({ data: ["p1", "p2", "p3"].map((id) => ({ id, authorId: "u" })) });
    const found = await acme.users.findUniqueOrThrow({
      where: { id: "u" },
      include: {
        posts: { where: { id: { gte: "p2" } }, orderBy: { id: "desc" }, take: 1 },
        _count: { posts: { where: { id: { lt: "p3" } } } },
      },
    });
    expect([found.posts.map(({ id }) => id), found._count]).toEqual([["p3"], { posts: 3 }]);
  });

  it("bounds every read, by keys without its fields", async () => {
    const { db, acme } = await open();
    const { users, posts } = acme;
    expect(await users.findUnique({ where: { id: "u" } })).toMatchObject({ tenantId: "acme" });
    expect(await users.findUnique({ where: { email: "a@x" } })).toMatchObject({ score: 1 });
    expect(await posts.findUnique({ where: { id: "z" } })).toBe(null);
    expect(await posts.findUnique({ where: { id: "a" } })).toMatchObject({ tenantId: "acme" });
    expect((await users.findMany({ where: { score: { gte: 0 } } })).items).toHaveLength(1);
    expect((await users.findMany({ orderBy: { score: "desc" } })).items).toHaveLength(1);
    expect(
      (await users.findMany({ where: { region: "eu" }, select: { email: true } })).items,
    ).toEqual([{ email: "a@x" }]);
    expect((await users.scan()).items.map(({ tenantId }) => tenantId)).toEqual(["acme"]);
    expect(await users.count()).toBe(1);
    expect(await users.exists({ where: { score: 9 } })).toBe(false);
    expect(await users.distinct({ field: "score" })).toEqual([1]);
    expect(await posts.count()).toBe(1);
    expect(await db.users.count()).toBe(2);
    expect(await users.groupBy({ by: ["score"], count: true, sum: { score: true } })).toEqual([
      { score: 1, count: 1, sum: { score: 1 } },
    ]);
    const found = await users.findUnique({
      where: { id: "u" },
      include: { posts: { include: { author: true, replies: true } }, _count: { posts: true } },
    });
    expect(found).toMatchObject({
      posts: [{ id: "a", author: { tenantId: "acme" }, replies: [] }],
      _count: { posts: 1 },
    });
    await db.users.create({ data: { tenantId: "zeta", id: "v", email: "v@x", score: 9 } });
    const query = { where: { score: { gte: 0 } }, take: 1 } as const;
    const { cursor } = await db.scope({ tenantId: "zeta" }).users.findMany(query);
    expect(cursor).not.toBe(null);
    expect(await rejection(call(() => users.findMany({ ...query, cursor })))).toMatchObject({
      code: "KW_CURSOR_INVALID",
    });
    expect(await users.rank({ index: "byScore", where: { id: "u" }, order: "desc" })).toBe(0);
    expect((await users.findMany({ orderBy: { score: "asc" }, skip: 1 })).items).toEqual([]);
    const unscoped = users.rank({ index: "byRegionAndScore", where: { id: "u" } });
    expect(await rejection(unscoped)).toMatchObject({ code: "KW_ARGUMENT_INVALID" });
    const { index } = await users.explain({ where: { score: 1 } });
    expect(index).toBe("byScore");
  });

  it("bounds every write", async () => {
    const { db, acme, zeta } = await open();
    const { users, posts } = acme;
    const missing = { code: "KW_ROW_NOT_FOUND" };
    const foreign = { where: { id: "z" } };
    expect(await rejection(posts.update({ ...foreign, data: { country: "fr" } }))).toMatchObject(
      missing,
    );
    expect(await rejection(posts.delete(foreign))).toMatchObject(missing);
    const create = { id: "z", authorId: "u" };
    expect(await rejection(posts.upsert({ ...foreign, create, update: {} }))).toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      index: "primaryKey",
    });
    expect(
      (await posts.updateMany({ filter: () => true, index: "byTenant", data: { country: null } }))
        .count,
    ).toBe(1);
    // The author exists only in the other scope.
    await zeta.users.create({ data: { id: "v", email: "v@x", score: 0 } });
    expect(await rejection(posts.create({ data: { id: "b", authorId: "v" } }))).toMatchObject({
      code: "KW_REFERENCE_MISSING",
    });
    expect(
      await rejection(posts.create({ data: { id: "b", authorId: "u", parentId: "z" } })),
    ).toMatchObject({ code: "KW_REFERENCE_MISSING" });
    for (const write of [
      () => users.create({ data: { id: "w", email: "w@x", score: 0, tenantId: "zeta" } }),
      () => users.update({ where: { id: "u" }, data: { tenantId: "zeta" } }),
      () => posts.update({ where: { id: "a" }, data: { tenantId: "zeta", authorId: "u" } }),
      () =>
        users.createMany({
          data: [{ id: "w", email: "w@x", score: 0, tenantId: "zeta" }],
          atomic: true,
        }),
    ] satisfies (() => Promise<unknown>)[]) {
      const error = await rejection(call(write));
      expect(["KW_SCOPE", "KW_PRIMARY_KEY_CHANGED"]).toContain(error?.code);
    }
    for (const where of [
      { tenantId: "zeta", score: 9 },
      { score: 9, OR: [{ tenantId: "zeta" }] },
    ]) {
      const error = await rejection(call(() => users.findMany({ where } as never)));
      expect(error).toMatchObject({ code: "KW_SCOPE", at: "where.tenantId" });
    }
    expect(
      await rejection(users.findUnique({ where: { tenantId: "zeta", id: "u" } } as never)),
    ).toMatchObject({ code: "KW_SCOPE" });
    await users.delete({ where: { id: "u" } });
    expect(await posts.count()).toBe(0);
    expect(await db.posts.count()).toBe(1);
    expect(await db.users.count()).toBe(2);
  });

  it("does not delete a row that a row outside of it refers to", async () => {
    const { db, acme } = await open();
    // Only a program without the scope can write this.
    await db.posts.update({ where: { id: "z" }, data: { parentId: "a" } });
    const error = await rejection(acme.posts.delete({ where: { id: "a" } }));
    expect(error).toMatchObject({ code: "KW_SCOPE", model: "posts" });
    expect(error?.message).not.toContain('"z"');
    const found = await acme.posts.findUnique({ where: { id: "a" }, include: { replies: true } });
    expect(found?.replies).toEqual([]);
    await db.posts.delete({ where: { id: "a" } });
    expect(await db.posts.count()).toBe(0);
  });

  it("bounds transactions and live queries, and can be nested", async () => {
    const { db, acme } = await open();
    await acme.transaction(async (tx) => {
      expect(await tx.posts.findUnique({ where: { id: "z" } })).toBe(null);
      await tx.users.update({ where: { id: "u" }, data: { score: 2 } });
    });
    await db.transaction(async (tx) => {
      const inner = tx.scope({ tenantId: "acme" });
      expect((await inner.users.findMany({ where: { score: { gte: 0 } } })).items).toMatchObject([
        { score: 2 },
      ]);
      await inner.users.create({ data: { id: "t", email: "t@x", score: 3 } });
    });
    const list = acme.users.watchMany({ where: { score: { gte: 0 } } }).getReader();
    const one = acme.posts.watch({ where: { id: "z" } }).getReader();
    expect((await one.read()).value).toBe(null);
    expect((await list.read()).value).toHaveLength(2);
    await acme.users.delete({ where: { id: "t" } });
    expect((await list.read()).value).toMatchObject([{ tenantId: "acme" }]);
    await Promise.all([list.cancel(), one.cancel()]);
    const nested = acme.scope({ authorId: "u" });
    expect(Object.keys(nested).sort()).toEqual([
      "at",
      "consume",
      "posts",
      "scope",
      "snapshot",
      "transaction",
      "withContext",
    ]);
    await nested.posts.create({ data: { id: "n" } });
    expect(await nested.posts.findUnique({ where: { id: "n" } })).toMatchObject({
      tenantId: "acme",
      authorId: "u",
    });
    expect((await nested.posts.findMany({ index: "byAuthor" })).items).toHaveLength(2);
    expect(() => acme.scope({ tenantId: "zeta" })).toThrow(/another value/);
  });

  it("has only the models with its fields", async () => {
    const { db, acme } = await open();
    // @ts-expect-error: countries have no tenant.
    expect(acme.countries).toBe(undefined);
    // @ts-expect-error: countries have no tenant.
    const included = acme.posts.findUnique({ where: { id: "a" }, include: { of: { nope: true } } });
    expect(await rejection(included)).toMatchObject({ code: "KW_ARGUMENT_INVALID" });
    const outside = acme.posts.findUnique({ where: { id: "a" }, include: { of: true } });
    expect((await rejection(outside))?.message).toContain("lacks the fields of the scope");
    // @ts-expect-error: no index begins with the tenant.
    const unserved = acme.posts.findMany({ where: { country: "fr" } });
    expect(await rejection(Promise.resolve(unserved))).toMatchObject({
      code: "KW_QUERY_UNINDEXED",
    });
    expect(await rejection(Promise.resolve(acme.posts.scan()))).toMatchObject({
      code: "KW_QUERY_INVALID",
    });
    // @ts-expect-error: the index lacks the tenant.
    const named = acme.users.findMany({ index: "byRegion" });
    expect(await rejection(Promise.resolve(named))).toMatchObject({ code: "KW_INDEX_UNKNOWN" });
    // @ts-expect-error: no model has the field.
    expect(() => db.scope({ nope: "x" })).toThrow(/no model has nope/);
    // @ts-expect-error: the field holds text.
    db.scope({ tenantId: 5 });
    // @ts-expect-error: it needs a value.
    expect(() => db.scope({ tenantId: undefined })).toThrow(/tenantId must be one that a key/);
    // @ts-expect-error: it needs a field.
    expect(() => db.scope({})).toThrow(/must be an object of values/);
    // @ts-expect-error: it is for all rows.
    await expect(migrate(acme)).rejects.toThrow(/createDatabase returned/);
    const Shared = defineModel({
      name: "shared",
      schema: z.object({ id: z.string(), tenantId: z.string(), email: z.string() }),
      primaryKey: "id",
      indexes: { byEmail: { key: "email", unique: true } },
    });
    const other = await createDatabase({ kv, models: { shared: Shared } });
    expect(() => other.scope({ tenantId: "acme" })).toThrow(
      'declare byEmail: { key: ["tenantId", "email"], unique: true }',
    );
  });
});

describe("conditions on related rows within a scope", () => {
  const Author = defineModel({
    name: "authors",
    schema: z.object({ t: z.string(), id: z.string(), age: z.int() }),
    primaryKey: ["t", "id"],
    indexes: { byAge: { key: ["t", "age"] } },
    relations: { texts: hasMany("texts", ["t", "authorId"]) },
  });
  const Tenant = defineModel({
    name: "tenants",
    schema: z.object({ t: z.string() }),
    primaryKey: "t",
    relations: { texts: hasMany("texts", "t") },
  });
  const textFields = { id: z.int(), t: z.string(), authorId: z.string(), state: z.string() };
  const build = (indexes: Record<string, { readonly key: readonly string[] }>) =>
    defineModel({
      name: "texts",
      schema: z.object(textFields),
      primaryKey: "id",
      indexes: { byAuthor: { key: ["t", "authorId"] }, ...(indexes as object) },
      relations: { author: belongsTo("authors", ["t", "authorId"]), of: belongsTo("tenants", "t") },
    });

  it.each([
    [["state", "t", "authorId"]],
    [["t", "state", "authorId"]],
    [["t", "authorId", "state"]],
  ])("are served by the index of the relation, and with values by %j", async (key) => {
    await using kv = await openKv();
    const models = { authors: Author, tenants: Tenant, texts: build({ byState: { key } }) };
    const db = await createDatabase({ kv, models });
    const tenants = ["a", "b"];
    await db.tenants.createMany({ data: tenants.map((t) => ({ t })) });
    const authors = tenants.flatMap((t) =>
      ["p", "q", "r", "s"].map((id, i) => ({ t, id, age: i % 2 })),
    );
    await db.authors.createMany({ data: authors });
    const texts = [
      ["a", "q", "draft"],
      ["a", "q", "live"],
      ["a", "q", "draft"],
      ["a", "s", "draft"],
      ["b", "p", "draft"],
      ["b", "r", "live"],
    ].map(([t, authorId, state], id) => ({ id, t: t!, authorId: authorId!, state: state! }));
    await db.texts.createMany({ data: texts });
    // The types do not know the fields of a scope.
    // biome-ignore lint/suspicious/noExplicitAny: the same.
    const scope = db.scope({ t: "a" }) as any;
    for (const where of [{}, { state: "draft" }, { state: "live" }, { state: "none" }]) {
      const { state } = where as { state?: string };
      const ids = authors
        .filter(({ t, id }) =>
          texts.some((x) => x.t === t && x.authorId === id && (state ?? x.state) === x.state),
        )
        .filter(({ t }) => t === "a")
        .map(({ id }) => id);
      const query = { where: { texts: { some: where } } };
      const isFinding = key[2] !== "state" || state === undefined;
      const idsOf = async (extra: object) => {
        const found: string[] = [];
        let cursor: string | null = null;
        do {
          const page: Page<{ id: string }> = await scope.authors.findMany({
            ...query,
            ...extra,
            take: 1,
            cursor,
          });
          found.push(...page.items.map(({ id }) => id));
          cursor = page.cursor;
        } while (cursor !== null);
        return found;
      };
      if (isFinding) {
        expect(await idsOf({})).toEqual(ids);
        expect(await idsOf({ orderBy: { t: "asc" } })).toEqual(ids);
        expect(await idsOf({ orderBy: { t: "desc" } })).toEqual(ids.toReversed());
        const { items } = await scope.tenants.findMany({ where: { texts: { some: where } } });
        expect(items).toEqual(ids.length > 0 ? [{ t: "a" }] : []);
      }
      const tested = { where: { age: 1, texts: { some: where } } };
      const found = await scope.authors.findMany(tested);
      expect(found.items.map(({ id }: { id: string }) => id)).toEqual(
        ids.filter((id) => id === "q" || id === "s"),
      );
    }
    const written = await scope.texts.findMany({ where: { author: { is: { age: 1 } } } });
    expect(written.items.map(({ id }: { id: number }) => id)).toEqual([0, 1, 2, 3]);
  });

  it.each([true, false])(
    "that refer by the field of the scope stay within it, counted: %s",
    async (count) => {
      await using kv = await openKv();
      const unit = defineModel({
        name: "units",
        schema: z.object({ id: z.string(), t: z.string() }),
        primaryKey: "id",
        indexes: { byT: { key: "t" } },
        relations: { notes: hasMany("notes", "t") },
      });
      const note = defineModel({
        name: "notes",
        schema: z.object({ id: z.int(), t: z.string() }),
        primaryKey: "id",
        indexes: { byT: { key: "t", count } },
        relations: { unit: belongsTo("units", "t") },
      });
      const db = await createDatabase({ kv, models: { units: unit, notes: note } });
      await db.units.createMany({ data: ["a", "b", "c"].map((id) => ({ id, t: "a" })) });
      await db.notes.createMany({ data: ["a", "b", "b"].map((t, id) => ({ id, t })) });
      // biome-ignore lint/suspicious/noExplicitAny: the types do not know the fields of a scope.
      const scope = db.scope({ t: "a" }) as any;
      const refused = [
        { include: { _count: { notes: true } } },
        { include: { notes: true } },
        { where: { notes: { none: {} } }, orderBy: { id: "asc" } },
        { where: { id: { in: ["a", "b"] }, notes: { some: {} } } },
      ];
      for (const query of refused)
        expect(await rejection(scope.units.findMany(query))).toMatchObject({
          code: "KW_SCOPE",
          message: expect.stringContaining("where.t"),
        });
      const include = { _count: { notes: true } };
      const { items } = await scope.units.findMany({ where: { id: { in: ["a"] } }, include });
      expect(items).toEqual([{ id: "a", t: "a", _count: { notes: 1 } }]);
    },
  );

  it("that no index serves say which one to add, with the fields of the scope first", async () => {
    await using kv = await openKv();
    const models = { authors: Author, tenants: Tenant, texts: build({}) };
    const db = await createDatabase({ kv, models });
    // biome-ignore lint/suspicious/noExplicitAny: the types refuse the queries.
    const scope = db.scope({ t: "a" }) as any;
    const refused = [
      scope.authors.findMany({ where: { texts: { some: { state: "draft" } } } }),
      scope.texts.findMany({ where: { state: "draft" }, orderBy: { id: "asc" } }),
    ];
    const suggestions = [];
    for (const call of refused) suggestions.push((await rejection(call)).message);
    expect(suggestions).toEqual([
      expect.stringContaining('key: ["t", "state", "authorId"]'),
      expect.stringContaining('key: ["t", "state"'),
    ]);
  });

  it("are not served by an index that also has the rows of others", async () => {
    await using kv = await openKv();
    const texts = build({ byState: { key: ["state"] } });
    const db = await createDatabase({ kv, models: { authors: Author, tenants: Tenant, texts } });
    const where = { texts: { some: { state: "draft" } } };
    expect((await db.authors.findMany({ where } as never)).items).toEqual([]);
    const error = await rejection(db.scope({ t: "a" }).authors.findMany({ where } as never));
    expect(error).toMatchObject({
      code: "KW_QUERY_UNINDEXED",
      message: expect.stringContaining('key: ["t", "state", "authorId"]'),
    });
  });

  it("rank a row with the fields of the scope in by, and without them", async () => {
    await using kv = await openKv();
    const models = { users: User, posts: Post, countries: Country };
    const db = await createDatabase({ kv, models });
    const scope = db.scope({ tenantId: "a" });
    await scope.users.createMany({
      data: [1, 1, 2].map((score, i) => ({ id: `${i}`, email: `${i}@x`, score })),
    });
    const by = [undefined, ["tenantId"], ["tenantId", "score"], ["score"]];
    const ranks = [];
    for (const each of by) {
      const query = { where: { id: "1" }, index: "byScore", by: each };
      ranks.push(await scope.users.rank(query as never));
    }
    expect(ranks).toEqual([1, 1, 1, 1]);
  });
});
