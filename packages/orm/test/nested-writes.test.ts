import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  type DatabaseOptions,
  defineModel,
  hasMany,
  hasOne,
  manyToMany,
  ReferenceRequiredError,
  RowInvalidError,
  UniqueConstraintError,
} from "../src/index.js";
import { blogModels } from "./blog-models.js";
import { countingKv } from "./counting-kv.js";
import { interferingKv } from "./faulty-kv.js";
import { entriesOf, rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";
import { expectReferencesToHold } from "./verify-references.js";

let kv: EmbeddedKv;
let db: Database<typeof blogModels>;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: blogModels });
});
afterEach(async () => {
  await expectReferencesToHold(kv, blogModels);
  await kv.close();
});

const a = { where: { id: "a" } };
const ada = { id: "a", name: "Ada" };
const bob = { id: "b", name: "Bob" };

/** The ids of rows, in order. */
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort();
const postsOf = async (authorId: string) =>
  ids((await db.posts.findMany({ where: { authorId } })).items);
const tagsOf = async (postId: string) =>
  ids((await db.posts.findUniqueOrThrow({ where: { id: postId }, include: { tags: true } })).tags);

describe("create", () => {
  it("creates rows through relations of all kinds, to several levels, in one commit", async () => {
    const counted = countingKv(kv);
    const counting = await createDatabase({ kv: counted.kv, models: blogModels });
    counted.calls.commit = 0;
    const created = await counting.users.create({
      data: {
        ...ada,
        boss: { create: { ...bob, profile: { create: { id: "pb", text: "boss" } } } },
        profile: { create: { id: "pa", text: "first" } },
        posts: {
          create: [
            { id: "p1", title: "One", tags: { create: [{ id: "x" }, { id: "y" }] } },
            {
              id: "p2",
              title: "Two",
              comments: { create: { id: "c", author: { connect: { id: "b" } } } },
              tags: { connectOrCreate: [{ where: { id: "x" }, create: { id: "x" } }] },
            },
          ],
        },
      },
      include: {
        boss: { include: { profile: true } },
        profile: true,
        posts: { include: { tags: true, comments: true } },
      },
    });
    expect(counted.calls.commit).toBe(1);
    expect(created).toEqual({
      ...ada,
      bossId: "b",
      boss: { ...bob, bossId: null, profile: { id: "pb", userId: "b", text: "boss" } },
      profile: { id: "pa", userId: "a", text: "first" },
      posts: [
        {
          ...{ id: "p1", authorId: "a", title: "One", rank: 0, comments: [] },
          tags: [{ id: "x" }, { id: "y" }],
        },
        {
          ...{ id: "p2", authorId: "a", title: "Two", rank: 0, tags: [{ id: "x" }] },
          comments: [{ id: "c", postId: "p2", authorId: "b", text: "" }],
        },
      ],
    });
    const stamps = new Set();
    for await (const { key, versionstamp } of kv.list({ prefix: [] })) {
      if (key[0] !== "__keywright") stamps.add(versionstamp);
    }
    expect(stamps.size).toBe(1);
    for (const model of Object.values(blogModels)) await expectIndexesToMatch(kv, model);
  });

  it("connects existing rows, once if they are named twice, and moves them", async () => {
    await db.users.create({ data: { ...bob, posts: { create: { id: "p", title: "t" } } } });
    await db.tags.create({ data: { id: "x" } });
    const where = { id: "p" };
    await db.users.create({ data: { ...ada, posts: { connect: [where, where] } } });
    expect([await postsOf("a"), await postsOf("b")]).toEqual([["p"], []]);
    const x = { id: "x" };
    const data = { id: "q", title: "t", author: { connect: { id: "b" } } };
    await db.posts.create({ data: { ...data, tags: { connect: [x, x] } } });
    expect(await tagsOf("q")).toEqual(["x"]);
    await db.tags.create({ data: { id: "y", posts: { connect: [where, { id: "q" }] } } });
    expect([await tagsOf("p"), await tagsOf("q")]).toEqual([["y"], ["x", "y"]]);
  });

  it("returns the versionstamp of its commit, and the caller may change its data at once", async () => {
    const post = { id: "p", title: "t" };
    const created = db.users.create({
      data: { ...ada, posts: { create: [post] } },
      withVersionstamp: true,
    });
    post.id = "q";
    const { versionstamp } = await created;
    const found = await db.users.findUniqueOrThrow({ ...a, withVersionstamp: true });
    expect(found.versionstamp).toBe(versionstamp);
    expect(await postsOf("a")).toEqual(["p"]);
  });
});

describe("update", () => {
  beforeEach(async () => {
    await db.users.create({
      data: {
        ...ada,
        posts: { create: ["p1", "p2", "p3"].map((id) => ({ id, title: id })) },
        comments: { create: [] },
        team: { create: [bob, { id: "c", name: "Cyd" }] },
        profile: { create: { id: "pa", text: "first" } },
      },
    });
  });

  it("changes, creates and deletes rows of a hasMany relation", async () => {
    await db.users.update({
      ...a,
      data: {
        name: { set: "Ada L." },
        posts: {
          create: { id: "p4", title: "p4" },
          delete: [{ id: "p1" }],
          update: [{ where: { id: "p2" }, data: { title: "new", rank: { increment: 2 } } }],
          upsert: [
            { where: { id: "p3" }, create: { id: "p3", title: "" }, update: { title: "changed" } },
            { where: { id: "p5" }, create: { id: "p5", title: "made" }, update: { title: "" } },
          ],
        },
      },
    });
    const { items } = await db.posts.findMany({ where: { authorId: "a" } });
    expect(items.map(({ id, title, rank }) => [id, title, rank])).toEqual([
      ["p2", "new", 2],
      ["p3", "changed", 0],
      ["p4", "p4", 0],
      ["p5", "made", 0],
    ]);
  });

  it("replaces and empties the rows of a hasMany relation whose field may be empty", async () => {
    const team = async () => ids((await db.users.findMany({ where: { bossId: "a" } })).items);
    await db.users.create({ data: { id: "d", name: "Dan" } });
    await db.users.update({ ...a, data: { team: { set: [{ id: "b" }, { id: "d" }] } } });
    expect(await team()).toEqual(["b", "d"]);
    // A row that does not belong to the relation is left alone.
    await db.users.update({ ...a, data: { team: { disconnect: [{ id: "b" }, { id: "c" }] } } });
    expect(await team()).toEqual(["d"]);
    const e = { id: "e", name: "Eve" };
    await db.users.update({ ...a, data: { team: { set: [], create: e, connect: { id: "c" } } } });
    expect(await team()).toEqual(["c", "e"]);
  });

  it("writes the row of a hasOne relation", async () => {
    const profile = () => db.profiles.findUnique({ where: { userId: "a" } });
    await db.users.update({ ...a, data: { profile: { update: { text: "second" } } } });
    expect((await profile())?.text).toBe("second");
    const made = { create: { id: "pn", text: "made" }, update: { text: "third" } };
    await db.users.update({ ...a, data: { profile: { upsert: made } } });
    expect(await profile()).toEqual({ id: "pa", userId: "a", text: "third" });
    const create = { id: "pc", text: "fourth" };
    const taken = db.users.update({ ...a, data: { profile: { create } } });
    expect(await rejection(taken)).toBeInstanceOf(ReferenceRequiredError);
    await db.users.update({ ...a, data: { profile: { delete: true, create } } });
    expect(await profile()).toEqual({ ...create, userId: "a" });
    await db.users.update({ ...a, data: { profile: { delete: true } } });
    await db.users.update({ ...a, data: { profile: { upsert: made } } });
    expect(await profile()).toEqual({ ...made.create, userId: "a" });
  });

  it("writes the row that a belongsTo relation leads to, and the reference", async () => {
    const b = { where: { id: "b" } };
    const bossOf = async () =>
      (await db.users.findUniqueOrThrow({ ...b, include: { boss: true } })).boss;
    await db.users.update({ ...b, data: { boss: { update: { name: "Boss" } } } });
    expect((await bossOf())?.name).toBe("Boss");
    await db.users.update({ ...b, data: { boss: { connect: { id: "c" } } } });
    expect((await bossOf())?.id).toBe("c");
    await db.users.update({ ...b, data: { boss: { disconnect: true } } });
    expect(await bossOf()).toBeNull();
    const create = { id: "d", name: "Dan" };
    await db.users.update({ ...b, data: { boss: { upsert: { create, update: {} } } } });
    await db.users.update({ ...b, data: { boss: { upsert: { create, update: { name: "D" } } } } });
    expect(await bossOf()).toEqual({ id: "d", name: "D", bossId: null });
    await db.users.update({ ...b, data: { boss: { delete: true } } });
    expect([await bossOf(), await db.users.findUnique({ where: { id: "d" } })]).toEqual([
      null,
      null,
    ]);
    const missing = db.users.update({ ...b, data: { boss: { update: { name: "" } } } });
    expect(await rejection(missing)).toMatchObject({
      code: "KW_ROW_NOT_FOUND",
      path: ["boss", "update"],
    });
    const where = { id: "e" };
    const data = { boss: { connectOrCreate: { where, create: { id: "e", name: "Eve" } } } };
    await db.users.update({ ...b, data });
    await db.users.update({ ...b, data });
    expect((await bossOf())?.id).toBe("e");
  });

  it("writes the rows of a manyToMany relation and those between", async () => {
    const p1 = { where: { id: "p1" } };
    const tag = (...names: string[]) => names.map((id) => ({ id }));
    await db.posts.update({ ...p1, data: { tags: { create: tag("x", "y", "z") } } });
    await db.posts.update({ ...p1, data: { tags: { disconnect: tag("y", "nobody") } } });
    expect(await tagsOf("p1")).toEqual(["x", "z"]);
    await db.posts.update({ ...p1, data: { tags: { set: tag("y", "z") } } });
    expect(await tagsOf("p1")).toEqual(["y", "z"]);
    await db.posts.update({ ...p1, data: { tags: { delete: { id: "z" } } } });
    expect(ids((await db.tags.scan()).items)).toEqual(["x", "y"]);
    // A tag that another post has cannot be deleted: the rows between restrict it.
    await db.posts.update({ where: { id: "p2" }, data: { tags: { connect: { id: "y" } } } });
    const used = db.posts.update({ ...p1, data: { tags: { delete: { id: "y" } } } });
    expect((await rejection(used)).code).toBe("KW_ROW_REFERENCED");
    expect(await tagsOf("p1")).toEqual(["y"]);
    const upsert = { where: { id: "x" }, create: { id: "w" }, update: {} };
    await db.posts.update({ ...p1, data: { tags: { upsert } } });
    expect(await tagsOf("p1")).toEqual(["w", "y"]);
    const unlinked = { where: { id: "x" }, data: {} };
    const wrong = await rejection(db.posts.update({ ...p1, data: { tags: { update: unlinked } } }));
    expect(wrong).toMatchObject({ code: "KW_ROW_NOT_FOUND", path: ["tags", "update"] });
  });

  it("refuses rows that the relation does not lead to, and deletes by the rules", async () => {
    await db.users.update({
      where: { id: "b" },
      data: { posts: { create: { id: "pb", title: "", comments: { create: { id: "c1" } } } } },
    });
    const where = { id: "pb" };
    for (const posts of [{ delete: where }, { update: { where, data: { title: "" } } }]) {
      const error = await rejection(db.users.update({ ...a, data: { posts } }));
      expect(error.code).toBe("KW_ROW_NOT_FOUND");
    }
    await db.users.update({ where: { id: "b" }, data: { posts: { delete: where } } });
    expect(await db.comments.findUnique({ where: { id: "c1" } })).toBeNull();
  });

  it("writes the row itself only if its own fields change, and checks ifVersion", async () => {
    const version = async () =>
      (await db.users.findUniqueOrThrow({ ...a, withVersionstamp: true })).versionstamp;
    const ifVersion = await version();
    const data = { posts: { update: { where: { id: "p1" }, data: { rank: 1 } } } };
    const updated = await db.users.update({ ...a, data, ifVersion, withVersionstamp: true });
    expect([updated.versionstamp, await version()]).toEqual([ifVersion, ifVersion]);
    await db.users.update({ ...a, data: { ...data, name: "A" }, ifVersion });
    expect(await version()).not.toBe(ifVersion);
    const late = db.users.update({ ...a, data, ifVersion });
    expect(await rejection(late)).toMatchObject({ code: "KW_VERSION_CONFLICT", model: "users" });
    const missing = db.users.update({ where: { id: "?" }, data });
    expect(await rejection(missing)).toMatchObject({ code: "KW_ROW_NOT_FOUND", path: undefined });
    // The row itself is changed through a relation.
    const self = await db.users.update({ ...a, data: { team: { connect: { id: "a" } } } });
    expect(self.bossId).toBe("a");
  });

  it("is part of upsert", async () => {
    const posts = { create: { id: "px", title: "x" } };
    const create = { id: "u", name: "Una", posts };
    const where = { id: "u" };
    const update = { posts: { update: { where: { id: "px" }, data: { title: "y" } } } };
    await db.users.upsert({ where, create, update });
    expect(await postsOf("u")).toEqual(["px"]);
    await db.users.upsert({ where, create, update });
    expect((await db.posts.findUnique({ where: { id: "px" } }))?.title).toBe("y");
    const late = db.users.upsert({ where, create, update: { posts: { connect: { id: "?" } } } });
    expect((await rejection(late)).message).toMatch(
      "users.upsert: update.posts.connect: no row has",
    );
    // The row appears between the search and the commit.
    const v = { id: "v", name: "V" };
    let times = 0;
    const racing = await createDatabase({
      kv: interferingKv(kv, async () => {
        if (times++ === 0) await kv.set(["users", "v"], { ...v, bossId: null });
      }),
      models: blogModels,
    });
    const data = { posts: { create: { id: "pv", title: "" } } };
    const options = {
      where: { id: "v" },
      create: { ...v, ...data },
      update: { name: "W", ...data },
    };
    expect((await racing.users.upsert(options)).name).toBe("W");
  });

  it("is part of a transaction, in which a nested write that fails leaves nothing", async () => {
    await db.transaction(async (tx) => {
      await tx.users.create({
        data: { id: "t", name: "T", posts: { create: { id: "pt", title: "" } } },
      });
      const posts = {
        create: [
          { id: "p9", title: "" },
          { id: "p1", title: "" },
        ],
      };
      const failed = tx.users.update({ where: { id: "t" }, data: { name: "no", posts } });
      expect(await rejection(failed)).toBeInstanceOf(UniqueConstraintError);
      await tx.users.update({ where: { id: "t" }, data: { posts: { connect: { id: "p1" } } } });
      expect((await tx.users.findUnique({ where: { id: "t" } }))?.name).toBe("T");
    });
    expect([await postsOf("t"), await postsOf("a")]).toEqual([
      ["p1", "pt"],
      ["p2", "p3"],
    ]);
  });
});

describe("an error names the place in the data, and nothing is written:", () => {
  const untyped = () =>
    db as unknown as Record<string, Record<string, (o: unknown) => Promise<unknown>>>;
  beforeEach(async () => {
    await db.users.create({ data: { ...bob, posts: { create: { id: "p", title: "t" } } } });
  });

  it.each([
    [
      {
        posts: {
          create: [
            { id: "q", title: "" },
            { id: "p", title: "" },
          ],
        },
      },
      "KW_UNIQUE_CONSTRAINT",
      "data.posts.create[1]: id is already taken",
    ],
    [
      { posts: { create: [{ id: "q", title: 1 }] } },
      "KW_ROW_INVALID",
      "data.posts.create[0]: the row does not fit the schema: title (expected string)",
    ],
    [
      { posts: { create: { id: "q", title: "", comments: { create: [{ id: 1 }] } } } },
      "KW_ROW_INVALID",
      "data.posts.create.comments.create[0]: the row does not fit",
    ],
    [
      { posts: { connect: [{ id: "p" }, { id: "?" }] } },
      "KW_ROW_NOT_FOUND",
      "data.posts.connect[1]: no row has this id; create that row first",
    ],
    [
      { posts: { connectOrCreate: { where: { id: "?" }, create: { id: "q" } } } },
      "KW_ROW_INVALID",
      "data.posts.connectOrCreate.create: the row",
    ],
    [{ posts: { connect: { title: "t" } } }, "KW_QUERY_UNINDEXED", "data.posts.connect: "],
    [{ boss: { connect: { id: "?" } } }, "KW_ROW_NOT_FOUND", "data.boss.connect: no row"],
    [
      { boss: { create: { id: "d" }, connect: { id: "b" } } },
      "KW_ARGUMENT_INVALID",
      "data.boss is not valid: the row can only refer to one row",
    ],
    [
      { boss: { create: [{ id: "d" }] } },
      "KW_ARGUMENT_INVALID",
      "data.boss.create is not valid: the relation leads to one row",
    ],
    [
      { bossId: "a", boss: { connect: { id: "b" } } },
      "KW_ARGUMENT_INVALID",
      "data.bossId is not valid: a relation in the same data",
    ],
    [
      { posts: { creat: [] } },
      "KW_ARGUMENT_INVALID",
      'data.posts.creat is not valid: the relation of a new row has no such operation; did you mean "create"?',
    ],
    [
      { posts: { update: [] } },
      "KW_ARGUMENT_INVALID",
      "data.posts.update is not valid: the relation of a new row",
    ],
    [
      { posts: [] },
      "KW_ARGUMENT_INVALID",
      "data.posts is not valid: it must be an object of operations",
    ],
    [
      { posts: { create: [null] } },
      "KW_ARGUMENT_INVALID",
      "data.posts.create[0] is not valid: it must be an object",
    ],
    [
      { posts: { connectOrCreate: { where: { id: "p" } } } },
      "KW_ARGUMENT_INVALID",
      "data.posts.connectOrCreate.create is not valid",
    ],
    [
      { posts: { connectOrCreate: { where: { id: "p" }, create: {}, data: {} } } },
      "KW_ARGUMENT_INVALID",
      "data.posts.connectOrCreate.data is not valid: there is no such option",
    ],
    [
      { posts: { create: { id: "q", title: "", authorId: "a" } } },
      "KW_ARGUMENT_INVALID",
      "data.posts.create.authorId is not valid: the row above determines it",
    ],
    [
      { posts: { create: { id: "q", title: "", author: { connect: { id: "b" } } } } },
      "KW_ARGUMENT_INVALID",
      "data.posts.create.author is not valid: the row above",
    ],
  ])("create with %j", async (data, code, message) => {
    const before = await entriesOf(kv);
    const error = await rejection(untyped().users!.create!({ data: { ...ada, ...data } }));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(`users.create: ${message}`);
    expect((error.path as unknown[])[0]).toBe(
      Object.keys(data).at(-1) === "boss" && code === "KW_ARGUMENT_INVALID" && "bossId" in data
        ? "bossId"
        : Object.keys(data).at(-1),
    );
    expect(await entriesOf(kv)).toEqual(before);
  });

  it.each([
    [
      { posts: { set: [] } },
      "KW_REFERENCE_REQUIRED",
      "data.posts.set: a row of posts refers to the row, and authorId cannot be empty",
    ],
    [{ posts: { disconnect: { id: "p" } } }, "KW_REFERENCE_REQUIRED", "data.posts.disconnect: "],
    [
      { posts: { update: { where: { id: "p" }, data: { authorId: "a" } } } },
      "KW_ARGUMENT_INVALID",
      "data.posts.update.data.authorId is not valid",
    ],
    [
      { posts: { delete: true } },
      "KW_ARGUMENT_INVALID",
      "data.posts.delete is not valid: it must be an object",
    ],
    [
      { profile: { delete: {} } },
      "KW_ARGUMENT_INVALID",
      "data.profile.delete is not valid: it must be true",
    ],
    [{ profile: { update: { text: "" } } }, "KW_ROW_NOT_FOUND", "data.profile.update: "],
    [
      { name: "x", posts: { upsert: { where: { id: "p" }, create: {}, update: { title: 1 } } } },
      "KW_ROW_INVALID",
      "data.posts.upsert.update: ",
    ],
  ])("update with %j", async (data, code, message) => {
    const before = await entriesOf(kv);
    const error = await rejection(untyped().users!.update!({ where: { id: "b" }, data }));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(`users.update: ${message}`);
    expect(await entriesOf(kv)).toEqual(before);
  });

  it("issues have whole paths, and data that contains itself is refused", async () => {
    const posts = { create: [{ id: "q", title: 1 as unknown as string }] };
    const error = await rejection(db.users.create({ data: { ...ada, posts } }));
    expect(error).toBeInstanceOf(RowInvalidError);
    const { issues, path, reason, model } = error as unknown as RowInvalidError;
    expect([model, path, issues[0]?.path]).toEqual([
      "posts",
      ["posts", "create", 0],
      ["posts", "create", 0, "title"],
    ]);
    expect(reason).toMatch(/^posts\.create\[0\]\.title: /);
    const loop: Record<string, unknown> = { ...ada };
    loop.team = { create: loop };
    const endless = await rejection(db.users.create({ data: loop as typeof ada }));
    expect(endless.message).toMatch("data.team.create is not valid: the data contains itself");
  });

  it("more rows than a commit accepts", async () => {
    const small = await openKv(":memory:", { limits: { checks: 8 } });
    try {
      const limited = await createDatabase({ kv: small, models: blogModels });
      const create = Array.from({ length: 9 }, (_, i) => ({ id: `p${i}`, title: "" }));
      const call = limited.users.create({ data: { ...ada, posts: { create } } });
      const { code, message } = await rejection(call);
      expect([code, message]).toEqual([
        "KW_LIMIT_EXCEEDED",
        expect.stringMatching(/^users: data\.posts\.create\[5\]: /),
      ]);
      expect(await entriesOf(small)).toEqual([]);
      await limited.users.create({ data: { ...ada, posts: { create: create.slice(0, 5) } } });
      expect(await limited.posts.count()).toBe(5);
    } finally {
      await small.close();
    }
  });
});

describe("other features of models", () => {
  const id = z.string();
  const Order = defineModel({
    name: "orders",
    schema: z.object({
      tenant: id,
      id,
      customerId: id.nullable().default(null),
      total: z.int(),
      createdAt: z.date().default(() => new Date()),
      updatedAt: z.date().default(() => new Date()),
    }),
    primaryKey: ["tenant", "id"],
    timestamps: true,
    count: true,
    sum: ["total"],
    indexes: {
      byCustomer: { key: ["tenant", "customerId"] },
      totals: { key: "customerId", sum: ["total"] },
    },
    relations: {
      customer: belongsTo("customers", ["tenant", "customerId"], { onDelete: "setNull" }),
      labels: manyToMany("labels", {
        through: "order_labels",
        from: ["tenant", "orderId"],
        to: "labelId",
      }),
    },
  });
  const Customer = defineModel({
    name: "customers",
    schema: z.object({ tenant: id, id, email: id }),
    primaryKey: ["tenant", "id"],
    indexes: { byEmail: { key: "email", unique: true, normalize: (v) => v.toLowerCase() } },
    relations: {
      orders: hasMany("orders", ["tenant", "customerId"]),
      address: hasOne("addresses", ["tenant", "customerId"]),
    },
  });
  const Address = defineModel({
    name: "addresses",
    schema: z.object({ id: z.ulid(), tenant: id, customerId: id.optional(), city: id }),
    primaryKey: "id",
    indexes: { byCustomer: { key: ["tenant", "customerId"], unique: true } },
    relations: { customer: belongsTo("customers", ["tenant", "customerId"]) },
  });
  const Label = defineModel({ name: "labels", schema: z.object({ id }), primaryKey: "id" });
  /** The same pair may occur twice as far as the keys are concerned. */
  const OrderLabel = defineModel({
    name: "order_labels",
    schema: z.object({ id: z.ulid(), tenant: id, orderId: id, labelId: id }),
    primaryKey: "id",
    indexes: { byOrder: { key: ["tenant", "orderId"] }, byLabel: { key: "labelId" } },
    relations: {
      order: belongsTo("orders", ["tenant", "orderId"], { onDelete: "cascade" }),
      label: belongsTo("labels", "labelId"),
    },
  });
  const models = {
    orders: Order,
    customers: Customer,
    addresses: Address,
    labels: Label,
    orderLabels: OrderLabel,
  };
  let shop: Database<typeof models>;
  const open = async (
    hooks: NonNullable<DatabaseOptions<typeof models>["hooks"]> = {},
    on = kv as Parameters<typeof interferingKv>[0],
  ) => await createDatabase({ kv: on, models, hooks });
  beforeEach(async () => {
    shop = await open();
  });
  afterEach(async () => {
    await expectReferencesToHold(kv, models);
    for (const model of Object.values(models)) await expectIndexesToMatch(kv, model);
  });
  const key = { tenant: "t", id: "c" };
  const customer = { ...key, email: "C@example.com" };

  it("keys of several fields, timestamps, aggregates and generated ids", async () => {
    await shop.customers.create({
      data: {
        ...customer,
        orders: {
          create: [
            { id: "1", total: 5 },
            { id: "2", total: 7 },
          ],
        },
        address: { create: { city: "Bern" } },
      },
    });
    const sum = () =>
      shop.orders.aggregate({
        count: true,
        sum: { total: true },
        where: { customerId: "c" },
      });
    expect(await sum()).toEqual({ count: 2, sum: { total: 12 } });
    const first = await shop.orders.findUniqueOrThrow({ where: { tenant: "t", id: "1" } });
    await shop.customers.update({
      where: key,
      data: {
        orders: { disconnect: { tenant: "t", id: "2" }, create: { id: "3", total: 1 } },
        address: { disconnect: true, create: { city: "Rome" } },
      },
    });
    expect(await sum()).toEqual({ count: 2, sum: { total: 6 } });
    expect(await shop.orders.count()).toBe(3);
    const kept = await shop.orders.findUniqueOrThrow({ where: { tenant: "t", id: "1" } });
    expect(kept).toEqual(first);
    const cities = (await shop.addresses.scan()).items.map(({ city, customerId }) => [
      city,
      customerId,
    ]);
    expect(cities.sort()).toEqual([
      ["Bern", undefined],
      ["Rome", "c"],
    ]);
    // The relation gives the tenant too.
    const order = { id: "4", total: 1, customer: { connect: { email: "c@EXAMPLE.com" } } };
    expect(await shop.orders.create({ data: order })).toMatchObject({
      tenant: "t",
      customerId: "c",
    });
    const other = shop.orders.create({ data: { ...order, id: "5", tenant: "other" } });
    expect((await rejection(other)).message).toMatch("data.tenant is not valid");
  });

  it("rows between with keys of their own are not doubled, whoever adds them", async () => {
    await shop.labels.createMany({ data: [{ id: "x" }, { id: "y" }] });
    await shop.orders.create({
      data: { tenant: "t", id: "1", total: 1, labels: { connect: { id: "x" } } },
    });
    const where = { tenant: "t", id: "1" };
    const connect = [{ id: "x" }, { id: "y" }, { id: "y" }];
    await Promise.all(
      [1, 2, 3, 4].map(() => shop.orders.update({ where, data: { labels: { connect } } })),
    );
    expect(await shop.orderLabels.count()).toBe(2);
    await shop.orders.update({ where, data: { labels: { set: [{ id: "y" }] } } });
    expect((await shop.orderLabels.scan()).items.map(({ labelId }) => labelId)).toEqual(["y"]);
  });

  it("set is not undone by a row that another writer adds at the same time", async () => {
    await shop.customers.create({ data: customer });
    let times = 0;
    const racing = await open(
      {},
      interferingKv(kv, async () => {
        if (times++ > 0) return;
        await shop.orders.create({ data: { tenant: "t", id: "late", total: 1, customerId: "c" } });
      }),
    );
    await racing.customers.update({ where: key, data: { orders: { set: [] }, email: "new" } });
    expect(times).toBeGreaterThan(1);
    expect(await shop.orders.findUnique({ where: { tenant: "t", id: "late" } })).toMatchObject({
      customerId: null,
    });
  });

  it("hooks are called for every row, get its reference, and can refuse the write", async () => {
    const calls: unknown[] = [];
    const hooked = await open({
      customers: {
        beforeCreate: (data) => void calls.push(["before", Object.keys(data)]),
        afterCreate: (row) => void calls.push(["after", row.id]),
      },
      orders: {
        beforeCreate: (data) => {
          calls.push(["before", data.customerId]);
          if (data.id === "no") throw new Error("no");
        },
        afterCreate: async ({ id: orderId }) => {
          calls.push(["after", orderId, await shop.orders.count()]);
        },
        // The reference stays, whoever empties it.
        beforeUpdate: (data) => ({ ...data, customerId: "c" }),
      },
    });
    await hooked.customers.create({
      data: { ...customer, orders: { create: { id: "1", total: 1 } } },
    });
    expect(calls).toEqual([
      ["before", ["tenant", "id", "email"]],
      ["before", "c"],
      ["after", "c"],
      ["after", "1", 1],
    ]);
    const refused = hooked.customers.create({
      data: {
        tenant: "t",
        id: "d",
        email: "d",
        orders: {
          create: [
            { id: "2", total: 1 },
            { id: "no", total: 1 },
          ],
        },
      },
    });
    expect(await rejection(refused)).toMatchObject({ message: "no" });
    expect([await shop.customers.count(), await shop.orders.count()]).toEqual([1, 1]);
    const kept = hooked.customers.update({ where: key, data: { orders: { set: [] } } });
    expect(await rejection(kept)).toMatchObject({
      code: "KW_REFERENCE_REQUIRED",
      path: ["orders", "set"],
    });
  });

  it("expireIn applies to the row only", async () => {
    const data = { ...customer, orders: { create: { id: "1", total: 1 } } };
    await shop.customers.create({ data, expireIn: 60_000 });
    const [row, order] = await kv.getMany<[unknown, unknown]>([
      ["customers", "t", "c"],
      ["orders", "t", "1"],
    ]);
    expect([
      (row as { expireAt?: number }).expireAt !== undefined,
      (order as { expireAt?: number }).expireAt,
    ]).toEqual([true, undefined]);
  });
});

it("writes within a scope stay in it", async () => {
  const id = z.string();
  const Team = defineModel({
    name: "teams",
    schema: z.object({ tenantId: id, id, planId: id.nullable().default(null) }),
    primaryKey: ["tenantId", "id"],
    indexes: { byPlan: { key: ["tenantId", "planId"] }, byPlanId: { key: "planId" } },
    relations: {
      tasks: hasMany("tasks", ["tenantId", "teamId"]),
      plan: belongsTo("plans", "planId"),
    },
  });
  const Task = defineModel({
    name: "tasks",
    schema: z.object({ tenantId: id, id, teamId: id.nullable().default(null) }),
    primaryKey: ["tenantId", "id"],
    indexes: { byTeam: { key: ["tenantId", "teamId"] } },
    relations: { team: belongsTo("teams", ["tenantId", "teamId"], { onDelete: "setNull" }) },
  });
  const Plan = defineModel({ name: "plans", schema: z.object({ id }), primaryKey: "id" });
  const models = { teams: Team, tasks: Task, plans: Plan };
  const all = await createDatabase({ kv, models });
  type Untyped = Record<string, Record<string, (options?: unknown) => Promise<unknown>>>;
  const acme = all.scope({ tenantId: "acme" }) as unknown as Untyped;
  await all.tasks.create({ data: { tenantId: "other", id: "theirs" } });
  await all.plans.create({ data: { id: "free" } });
  const plan = { connect: { id: "free" } };
  await acme.teams!.create!({ data: { id: "t", plan, tasks: { create: { id: "ours" } } } });
  const ours = { tenantId: "acme", id: "ours" };
  expect((await all.tasks.findUnique({ where: ours }))?.teamId).toBe("t");
  const where = { id: "t" };
  const refused: [object, string][] = [
    [{ tasks: { connect: { id: "theirs" } } }, "KW_ROW_NOT_FOUND"],
    [{ tasks: { connect: { tenantId: "other", id: "theirs" } } }, "KW_SCOPE"],
    [{ tasks: { delete: { tenantId: "other", id: "theirs" } } }, "KW_SCOPE"],
    [{ plan: { update: {} } }, "KW_SCOPE"],
    [{ plan: { create: { id: "new" } } }, "KW_SCOPE"],
    [{ plan: { delete: true } }, "KW_SCOPE"],
  ];
  for (const [data, code] of refused) {
    expect([data, (await rejection(acme.teams!.update!({ where, data }))).code]).toEqual([
      data,
      code,
    ]);
  }
  await acme.teams!.update!({ where, data: { tasks: { set: [] }, plan: { disconnect: true } } });
  expect(await all.tasks.findUnique({ where: { tenantId: "other", id: "theirs" } })).toEqual({
    ...{ tenantId: "other", id: "theirs", teamId: null },
  });
  expect(await all.plans.count()).toBe(1);
});

it("rows that are marked as deleted are not connected, and rows between are restored", async () => {
  const schema = z.object({ id: z.string(), deletedAt: z.date().nullable().default(null) });
  const marking = { primaryKey: "id", softDelete: "deletedAt" } as const;
  const between = { through: "page_words", from: "pageId", to: "wordId" } as const;
  const Page = defineModel({
    name: "pages",
    ...marking,
    schema,
    relations: { words: manyToMany("words", between) },
  });
  const Word = defineModel({ name: "words", ...marking, schema });
  const PageWord = defineModel({
    name: "page_words",
    schema: schema.omit({ id: true }).extend({ pageId: z.string(), wordId: z.string() }),
    primaryKey: ["pageId", "wordId"],
    softDelete: "deletedAt",
    indexes: { byWord: { key: "wordId" } },
    relations: {
      page: belongsTo("pages", "pageId", { onDelete: "cascade" }),
      word: belongsTo("words", "wordId", { onDelete: "cascade" }),
    },
  });
  const models = { pages: Page, words: Word, pageWords: PageWord };
  const { pages, words, pageWords } = await createDatabase({ kv, models });
  const where = { id: "p" };
  const x = { id: "x" };
  await pages.create({ data: { id: "p", words: { create: [x, { id: "y" }] } } });
  await pages.update({ where, data: { words: { disconnect: x } } });
  await pages.update({ where, data: { words: { connect: x, delete: { id: "y" } } } });
  const found = await pages.findUniqueOrThrow({ where, include: { words: true } });
  expect(ids(found.words)).toEqual(["x"]);
  expect((await pageWords.scan({ withDeleted: true })).items).toHaveLength(2);
  expect(ids((await words.scan({ withDeleted: true })).items)).toEqual(["x", "y"]);
  const gone = pages.update({ where, data: { words: { connect: { id: "y" } } } });
  expect((await rejection(gone)).code).toBe("KW_ROW_NOT_FOUND");
});

it("concurrent writers of the same rows lose nothing", async () => {
  await db.users.createMany({ data: [ada, bob] });
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      db.users.update({
        where: { id: i % 2 === 0 ? "a" : "b" },
        data: {
          posts: {
            create: { id: `p${i}`, title: "" },
            connectOrCreate: { where: { id: "shared" }, create: { id: "shared", title: "" } },
          },
        },
      }),
    ),
  );
  expect(await db.posts.count()).toBe(13);
  expect((await postsOf("a")).length + (await postsOf("b")).length).toBe(13);
});
