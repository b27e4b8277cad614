import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import type { CheckedModels } from "../src/codegen.js";
import {
  belongsTo,
  type CannotHold,
  createDatabase,
  type Database,
  defineModel,
  hasMany,
  hasOne,
  type Model,
  manyToMany,
} from "../src/index.js";
import { blogModels, User } from "./blog-models.js";
import { countingKv } from "./counting-kv.js";
import { withoutViews } from "./faulty-kv.js";
import { rejection } from "./user-model.js";

let kv: EmbeddedKv;
let db: Database<typeof blogModels>;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: blogModels });
});
afterEach(() => kv.close());

/** Users a, b and c, of whom a and b have posts; a is the boss of b and c. */
async function fillBlog(): Promise<void> {
  await db.users.create({ data: { id: "a", name: "Ada" } });
  await db.users.create({ data: { id: "b", name: "Bob", bossId: "a" } });
  await db.users.create({ data: { id: "c", name: "Cyd", bossId: "a" } });
  await db.profiles.create({ data: { id: "pa", userId: "a", text: "first" } });
  const posts = [
    { id: "p1", authorId: "a", title: "One", rank: 3 },
    { id: "p2", authorId: "a", title: "Two", rank: 1 },
    { id: "p3", authorId: "b", title: "Three", rank: 2 },
  ];
  for (const data of posts) await db.posts.create({ data });
  for (const id of ["x", "y"]) await db.tags.create({ data: { id } });
  const tagged = [
    { postId: "p1", tagId: "x" },
    { postId: "p1", tagId: "y" },
    { postId: "p3", tagId: "x" },
  ];
  for (const data of tagged) await db.postTags.create({ data });
  const comments = [
    { id: "c1", postId: "p1", authorId: "b" },
    { id: "c2", postId: "p1" },
    { id: "c3", postId: "p3", authorId: "a" },
  ];
  for (const data of comments) await db.comments.create({ data });
}

/** Why a database is not opened with these models. */
async function refusal(...models: Model[]): Promise<string> {
  const opened = createDatabase({
    kv,
    models: Object.fromEntries(models.map((model) => [model.name, model])) as never,
  });
  const { code, model, at, reason } = await rejection(opened);
  expect(code).toBe("KW_MODEL_INVALID");
  return `${model}.${at}: ${reason}`;
}

const id = z.string();
const Owner = defineModel({ name: "owners", schema: z.object({ id }), primaryKey: "id" });

describe("a database is not opened with a relation that", () => {
  it("names a model that it does not have", async () => {
    const Pet = defineModel({
      name: "pets",
      schema: z.object({ id, ownerId: id }),
      primaryKey: "id",
      indexes: { byOwner: { key: "ownerId" } },
      relations: { owner: belongsTo("owner", "ownerId") },
    });
    expect(await refusal(Owner, Pet)).toBe(
      'pets.relations.owner: the database has no model "owner"; its models are owners, pets',
    );
  });

  it("has no index to begin with its fields, and says which to add", async () => {
    const schema = z.object({ id, ownerId: id });
    const relations = { owner: belongsTo("owners", "ownerId") };
    const Pet = defineModel({ name: "pets", schema, primaryKey: "id", relations });
    expect(await refusal(Owner, Pet)).toBe(
      "pets.relations.owner: no index of pets begins with ownerId and has all rows; " +
        'add byOwnerId: { key: "ownerId" } to its indexes',
    );
    const Other = defineModel({ name: "pets", schema, primaryKey: "id" });
    const Keeper = defineModel({
      name: "owners",
      schema: z.object({ id }),
      primaryKey: "id",
      relations: { pets: hasMany("pets", "ownerId") },
    });
    expect(await refusal(Keeper, Other)).toContain('add byOwnerId: { key: "ownerId" }');
  });

  it.each([
    ["is partial", { key: "ownerId", where: () => true }],
    ["normalizes", { key: "ownerId", normalize: (owner: string) => owner }],
    ["goes on with a field that may be absent", { key: ["ownerId", "age"] }],
    ["does not begin with them", { key: ["name", "ownerId"] }],
    ["computes", { key: (row: { ownerId: string }) => row.ownerId }],
  ])("has only an index that %s", async (_name, byOwner) => {
    const Pet = defineModel({
      name: "pets",
      schema: z.object({ id, ownerId: id, name: id, age: z.number().optional() }),
      primaryKey: "id",
      indexes: { byOwner: byOwner as { key: "ownerId" } },
      relations: { owner: belongsTo("owners", "ownerId") },
    });
    expect(await refusal(Owner, Pet)).toContain("add byOwnerId");
  });

  it("names fields that are not there, or not as many as the primary key has", async () => {
    const Team = defineModel({
      name: "teams",
      schema: z.object({ tenant: id, id }),
      primaryKey: ["tenant", "id"],
      relations: { people: hasMany("people", ["tenant", "team"]) },
    });
    const Person = defineModel({
      name: "people",
      schema: z.object({ id, tenant: id, teamId: id }),
      primaryKey: "id",
      indexes: { byTeam: { key: "teamId" } },
      relations: { team: belongsTo("teams", "teamId") },
    });
    expect(await refusal(Team, Person)).toBe(
      'teams.relations.people: the model people has no field "team"',
    );
    expect(await refusal({ ...Team, relations: {} }, Person)).toBe(
      "people.relations.team: it names one field, but the primary key of teams is tenant, id",
    );
  });

  it.each([
    ["a number", z.number().nullable(), "number"],
    ["a bigint", z.bigint().optional(), "bigint"],
    ["a date", z.date().default(new Date(0)), "date"],
    ["a boolean", z.boolean().readonly(), "boolean"],
  ])("has a field that is %s for a key that is a string", async (_name, ownerId, kind) => {
    const Pet = defineModel({
      name: "pets",
      schema: z.object({ id, ownerId }),
      primaryKey: "id",
      indexes: { byOwner: { key: "ownerId" } },
      relations: { owner: belongsTo("owners", "ownerId") },
    });
    expect(await refusal(Owner, Pet)).toBe(
      `pets.relations.owner: pets.ownerId is a ${kind}, but it must hold owners.id, a string`,
    );
    const Keeper = defineModel({
      name: "owners",
      schema: z.object({ id }),
      primaryKey: "id",
      relations: { pets: hasMany("pets", "ownerId") },
    });
    expect(await refusal(Keeper, { ...Pet, relations: {} })).toContain(`is a ${kind}`);
    const Keeps = defineModel({
      name: "keeps",
      schema: z.object({ ownerId: id, petId: ownerId }),
      primaryKey: "ownerId",
    });
    const pets = manyToMany("pets", { through: "keeps", from: "ownerId", to: "petId" });
    const Friend = defineModel({ ...Owner, relations: { pets } });
    expect(await refusal(Friend, { ...Pet, relations: {} }, Keeps)).toContain(`is a ${kind}`);
  });

  it("but with one whose field may be of any kind, or is made by a transform", async () => {
    const kinds = {
      any: z.any(),
      union: z.union([z.string(), z.number()]),
      transformed: z.number().transform(String),
      branded: z.string().brand("owner").optional(),
      one: z.enum(["ada", "bob"]),
    };
    for (const kind of Object.values(kinds)) {
      const ownerId = kind as z.ZodType<string>;
      const Pet = defineModel({
        name: "pets",
        schema: z.object({ id, ownerId }),
        primaryKey: "id",
        indexes: { byOwner: { key: "ownerId" } },
        relations: { owner: belongsTo("owners", "ownerId") },
      });
      const models = { owners: Owner, pets: Pet };
      await expect(createDatabase({ kv, models })).resolves.toBeDefined();
    }
  });

  it("goes through a model that does not lead back", async () => {
    const Pet = defineModel({ name: "pets", schema: z.object({ id }), primaryKey: "id" });
    const Keeps = defineModel({
      name: "keeps",
      schema: z.object({ id, petId: id, ownerId: id }),
      primaryKey: "id",
    });
    const Keeper = defineModel({
      name: "owners",
      schema: z.object({ id }),
      primaryKey: "id",
      relations: {
        pets: manyToMany("pets", { through: "keeps", from: "ownerId", to: "petId" }),
      },
    });
    expect(await refusal(Keeper, Pet, Keeps)).toContain('add byOwnerId: { key: "ownerId" }');
    expect(await refusal(Keeper, Pet)).toContain('the database has no model "keeps"');
  });
});

describe("the types of a database's models", () => {
  const indexes = { byOwner: { key: "ownerId" } } as const;
  const Numbered = defineModel({
    name: "pets",
    schema: z.object({ id, ownerId: z.number() }),
    primaryKey: "id",
    indexes,
    relations: { owner: belongsTo("owners", "ownerId") },
  });

  it("refuse a field that cannot hold the other model's primary key", () => {
    type Hold = CannotHold<"ownerId", "give the field the type of the primary key that it holds">;
    expectTypeOf<
      CheckedModels<{ owners: typeof Owner; pets: typeof Numbered }>["pets"]
    >().toEqualTypeOf<{ readonly relations: { readonly owner: Hold } }>();
    const open = () =>
      // @ts-expect-error the same where the database is opened
      createDatabase({ kv, models: { owners: Owner, pets: Numbered } });
    expect(open).toBeTypeOf("function");
    const Keeper = defineModel({
      ...Owner,
      relations: {
        pets: hasMany("pets", "ownerId"),
        one: hasOne("pets", "ownerId"),
        through: manyToMany("others", { through: "pets", from: "ownerId", to: "id" }),
      },
    });
    const Other = defineModel({ ...Owner, name: "others" });
    expectTypeOf<
      CheckedModels<{ o: typeof Keeper; p: typeof Numbered; other: typeof Other }>["o"]
    >().toEqualTypeOf<{
      readonly relations: { readonly pets: Hold; readonly one: Hold; readonly through: Hold };
    }>();
    const Team = defineModel({
      name: "teams",
      schema: z.object({ tenant: id, nr: z.number() }),
      primaryKey: ["tenant", "nr"],
    });
    const Player = defineModel({
      name: "players",
      schema: z.object({ id, tenant: id, nr: id, right: z.number().nullable() }),
      primaryKey: "id",
      indexes: { byTeam: { key: ["tenant", "nr"] } },
      relations: {
        team: belongsTo("teams", ["tenant", "nr"]),
        mixed: belongsTo("teams", ["right", "tenant"]),
        other: belongsTo("teams", ["tenant", "right"]),
      },
    });
    type Held<F> = CannotHold<F, "give the field the type of the primary key that it holds">;
    expectTypeOf<
      CheckedModels<{ teams: typeof Team; players: typeof Player }>["players"]
    >().toEqualTypeOf<{
      readonly relations: {
        readonly team: Held<"nr">;
        readonly mixed: Held<"right" | "tenant">;
        readonly other: unknown;
      };
    }>();
  });

  it("allow one that is narrower or wider, branded, or of any type", () => {
    const Branded = defineModel({
      ...Owner,
      schema: z.object({ id: z.string().brand("owner") }),
    });
    const Pet = defineModel({
      name: "pets",
      schema: z.object({ id, plain: id, some: z.enum(["a"]).optional(), any: z.any() }),
      primaryKey: "id",
      relations: {
        byPlain: belongsTo("owners", "plain"),
        byAny: belongsTo("owners", "any", { onDelete: "setNull" }),
      },
    });
    const models = { owners: Branded, pets: Pet };
    expectTypeOf(models).toExtend<CheckedModels<typeof models>>();
    const Narrow = defineModel({ ...Pet, relations: { bySome: belongsTo("owners", "some") } });
    const narrow = { owners: Owner, pets: Narrow };
    expectTypeOf(narrow).toExtend<CheckedModels<typeof narrow>>();
  });

  it("refuse setNull by a field that may not be absent", () => {
    const schema = z.object({ id, own: id, none: id.nullable(), out: id.optional() });
    const rule = { onDelete: "setNull" } as const;
    const clearing = { owner: belongsTo("owners", "own", rule) };
    const define = () =>
      defineModel({ name: "pets", schema, primaryKey: "id", relations: clearing });
    expect(define).toThrow();
    type Clearing = { owners: typeof Owner; pets: ReturnType<typeof define> };
    expectTypeOf<CheckedModels<Clearing>["pets"]>().toEqualTypeOf<{
      readonly relations: {
        readonly owner: CannotHold<
          "own",
          "setNull needs a nullable or optional field; change the field, or choose another onDelete"
        >;
      };
    }>();
    const Pet = defineModel({
      name: "pets",
      schema,
      primaryKey: "id",
      relations: {
        byNone: belongsTo("owners", "none", rule),
        byOut: belongsTo("owners", "out", rule),
        byOwn: belongsTo("owners", "own", { onDelete: "cascade" }),
      },
    });
    const models = { owners: Owner, pets: Pet };
    expectTypeOf(models).toExtend<CheckedModels<typeof models>>();
  });
});

describe("include", () => {
  it("loads relations of every kind", async () => {
    await fillBlog();
    const ada = await db.users.findUnique({
      where: { id: "a" },
      include: { posts: true, profile: true, boss: true, team: true },
    });
    expect(ada).toEqual({
      id: "a",
      name: "Ada",
      bossId: null,
      boss: null,
      profile: { id: "pa", userId: "a", text: "first" },
      posts: [
        { id: "p1", authorId: "a", title: "One", rank: 3 },
        { id: "p2", authorId: "a", title: "Two", rank: 1 },
      ],
      team: [
        { id: "b", name: "Bob", bossId: "a" },
        { id: "c", name: "Cyd", bossId: "a" },
      ],
    });
    const bob = await db.users.findUnique({
      where: { id: "b" },
      include: { profile: true, boss: true, team: true },
    });
    expect(bob).toMatchObject({ profile: null, boss: { name: "Ada" }, team: [] });
    const { items } = await db.posts.scan({ include: { tags: true, author: true } });
    expect(items.map((post) => [post.author.name, post.tags.map((tag) => tag.id)])).toEqual([
      ["Ada", ["x", "y"]],
      ["Ada", []],
      ["Bob", ["x"]],
    ]);
    const tags = await db.tags.scan({ include: { posts: true } });
    expect(tags.items.map((tag) => tag.posts.map((post) => post.id))).toEqual([
      ["p1", "p3"],
      ["p1"],
    ]);
  });

  it("loads relations of relations, with queries of their own", async () => {
    await fillBlog();
    const { items } = await db.users.scan({
      select: { name: true },
      include: {
        posts: {
          orderBy: { rank: "desc" },
          take: 1,
          select: { title: true },
          include: { tags: { select: { id: true } }, comments: { include: { author: true } } },
        },
      },
    });
    expect(items).toEqual([
      {
        name: "Ada",
        posts: [
          {
            title: "One",
            tags: [{ id: "x" }, { id: "y" }],
            comments: [
              {
                id: "c1",
                postId: "p1",
                authorId: "b",
                text: "",
                author: { id: "b", name: "Bob", bossId: "a" },
              },
              { id: "c2", postId: "p1", text: "", author: null },
            ],
          },
        ],
      },
      {
        name: "Bob",
        posts: [
          {
            title: "Three",
            tags: [{ id: "x" }],
            comments: [
              {
                id: "c3",
                postId: "p3",
                authorId: "a",
                text: "",
                author: { id: "a", name: "Ada", bossId: null },
              },
            ],
          },
        ],
      },
      { name: "Cyd", posts: [] },
    ]);
  });

  it("filters, orders and takes for each row on its own", async () => {
    for (const id of ["a", "b"]) await db.users.create({ data: { id, name: id } });
    for (let i = 0; i < 60; i++) {
      const authorId = i % 3 === 0 ? "b" : "a";
      await db.posts.create({ data: { id: `p${i}`, authorId, title: `${i}`, rank: i } });
    }
    const { items } = await db.users.scan({
      include: {
        posts: {
          orderBy: { rank: "desc" },
          filter: (post: { rank: number }) => post.rank % 4 === 0,
          take: 3,
        },
      },
    });
    expect(items.map(({ posts }) => posts.map(({ rank }) => rank))).toEqual([
      [56, 52, 44],
      [48, 36, 24],
    ]);
    const first = await db.users.findUnique({
      where: { id: "a" },
      include: { posts: { where: { rank: { lt: 8, gte: 4 } } } as never },
    });
    expect(first).toMatchObject({ posts: [{ rank: 4 }, { rank: 5 }, { rank: 7 }] });
  });

  it("takes related rows of many-to-many where some are filtered out or met before", async () => {
    const Left = defineModel({
      name: "lefts",
      schema: z.object({ id }),
      primaryKey: "id",
      relations: {
        rights: manyToMany("rights", { through: "links", from: "left", to: "right" }),
      },
    });
    const Right = defineModel({
      name: "rights",
      schema: z.object({ id: z.number() }),
      primaryKey: "id",
    });
    // Two links may lead from one to the other.
    const Link = defineModel({
      name: "links",
      schema: z.object({ id: z.number(), left: id, right: z.number() }),
      primaryKey: "id",
      indexes: { byLeft: { key: "left" } },
    });
    const models = { lefts: Left, rights: Right, links: Link };
    const own = await createDatabase({ kv, models });
    await own.lefts.create({ data: { id: "l" } });
    for (let n = 0; n < 20; n++) await own.rights.create({ data: { id: n } });
    for (let n = 0; n < 60; n++) {
      await own.links.create({ data: { id: n, left: "l", right: Math.floor(n / 2) } });
    }
    const include = { rights: { take: 4, filter: (right: { id: number }) => right.id % 2 === 1 } };
    const found = await own.lefts.findUnique({ where: { id: "l" }, include });
    expect(found?.rights).toEqual([{ id: 1 }, { id: 3 }, { id: 5 }, { id: 7 }]);
    const all = await own.lefts.findUnique({ where: { id: "l" }, include: { rights: true } });
    // The links to rows that are not there lead nowhere.
    expect(all?.rights.map((right) => right.id)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it.each([499, 500, 501, 1203])("loads all of %i related rows", async (count) => {
    await fillBlog();
    const two = "p2";
    await db.comments.createMany({
      data: Array.from({ length: count }, (_, i) => ({ id: `n${i}`, postId: two })),
    });
    await db.tags.createMany({
      data: Array.from({ length: count }, (_, i) => ({ id: `t${i}` })),
    });
    await db.postTags.createMany({
      data: Array.from({ length: count }, (_, i) => ({ postId: two, tagId: `t${i}` })),
    });
    const where = { id: two };
    const all = await db.posts.findUnique({ where, include: { comments: true, tags: true } });
    expect(new Set(all?.comments.map((each) => each.id)).size).toBe(count);
    expect(all?.comments).toHaveLength(count);
    expect(new Set(all?.tags.map((each) => each.id)).size).toBe(count);
    expect(all?.tags).toHaveLength(count);
    const filter = (row: { readonly id: string }) => row.id.endsWith("7");
    const some = { filter };
    const few = await db.posts.findUnique({ where, include: { comments: some, tags: some } });
    const sevens = Array.from({ length: count }, (_, i) => i).filter((i) => i % 10 === 7).length;
    expect([few?.comments.length, few?.tags.length]).toEqual([sevens, sevens]);
    const most = { take: count - 1 };
    const cut = await db.posts.findUnique({ where, include: { comments: most, tags: most } });
    expect([cut?.comments.length, cut?.tags.length]).toEqual([count - 1, count - 1]);
  });

  it("finds rows by keys of several fields", async () => {
    const Team = defineModel({
      name: "teams",
      schema: z.object({ tenant: z.bigint(), at: z.date(), name: id }),
      primaryKey: ["tenant", "at"],
      relations: { people: hasMany("people", ["tenant", "teamAt"]) },
    });
    const Person = defineModel({
      name: "people",
      schema: z.object({ tenant: z.bigint(), teamAt: z.date().nullable(), name: id }),
      primaryKey: ["tenant", "name"],
      indexes: { byTeam: { key: ["tenant", "teamAt"] } },
      relations: { team: belongsTo("teams", ["tenant", "teamAt"], { onDelete: "setNull" }) },
    });
    const own = await createDatabase({ kv, models: { teams: Team, people: Person } });
    const at = new Date(5);
    for (const tenant of [1n, 2n]) {
      await own.teams.create({ data: { tenant, at, name: `T${tenant}` } });
      await own.people.create({ data: { tenant, teamAt: new Date(5), name: "x" } });
      await own.people.create({ data: { tenant, teamAt: null, name: "y" } });
    }
    const teams = await own.teams.scan({ include: { people: true } });
    expect(teams.items.map((team) => team.people)).toEqual([
      [{ tenant: 1n, teamAt: at, name: "x" }],
      [{ tenant: 2n, teamAt: at, name: "x" }],
    ]);
    const people = await own.people.scan({ include: { team: true } });
    expect(people.items.map((person) => person.team?.name)).toEqual([
      "T1",
      undefined,
      "T2",
      undefined,
    ]);
  });

  it("gives each row objects of its own", async () => {
    const Doc = defineModel({
      name: "docs",
      schema: z.object({
        id,
        when: z.date(),
        bytes: z.instanceof(Uint8Array),
        list: z.array(z.object({ n: z.number() })),
      }),
      primaryKey: "id",
    });
    const Note = defineModel({
      name: "notes",
      schema: z.object({ id, docId: id }),
      primaryKey: "id",
      indexes: { byDoc: { key: "docId" } },
      relations: { doc: belongsTo("docs", "docId") },
    });
    const own = await createDatabase({ kv, models: { docs: Doc, notes: Note } });
    const data = { id: "d", when: new Date(1), bytes: new Uint8Array([1]), list: [{ n: 1 }] };
    await own.docs.create({ data });
    for (const id of ["1", "2", "3"]) await own.notes.create({ data: { id, docId: "d" } });
    const { items } = await own.notes.scan({ include: { doc: true } });
    for (const { doc } of items) {
      expect(doc).toEqual(data);
      doc.when.setTime(9);
      doc.bytes[0] = 9;
      doc.list[0] = { n: 9 };
      doc.id = "changed";
    }
  });

  it("loads relations of several depths for each page of a stream, as they were with its rows", async () => {
    await fillBlog();
    let deleted: Promise<unknown> | undefined;
    const afterRead = async (row: z.infer<typeof blogModels.posts.schema>) => {
      deleted ??= db.users.delete({ where: { id: "a" } });
      await deleted;
      return row;
    };
    const hooked = await createDatabase({
      kv,
      models: blogModels,
      hooks: { posts: { afterRead } },
    });
    const include = {
      author: { include: { team: true } },
      comments: { include: { author: true } },
    };
    const posts: unknown[] = [];
    for await (const post of hooked.posts.scan({ include })) posts.push(post);
    expect(await db.posts.scan()).toMatchObject({ items: [{ id: "p3" }] });
    expect(posts).toMatchObject([
      { id: "p1", author: { id: "a", team: [{ id: "b" }, { id: "c" }] } },
      { id: "p2", author: { id: "a", team: [{ id: "b" }, { id: "c" }] } },
      { id: "p3", author: { id: "b", team: [] } },
    ]);
  });

  it("ignores a relation that is false or undefined, and refuses what it does not know", async () => {
    await fillBlog();
    const where = { id: "a" };
    expect(
      await db.users.findUnique({ where, include: { posts: false, team: undefined } as never }),
    ).toEqual({ id: "a", name: "Ada", bossId: null });
    const failing = async (include: unknown) => {
      const { code, argument, reason } = await rejection(
        db.users.findUnique({ where, include: include as never }),
      );
      return [code, argument, reason];
    };
    expect(await failing({ post: true })).toEqual([
      "KW_ARGUMENT_INVALID",
      "include.post",
      'users has no such relation; did you mean "posts"?',
    ]);
    expect((await failing({ posts: { cursor: "x" } }))[1]).toBe("include.posts.cursor");
    expect((await failing({ posts: { take: 0 } }))[1]).toBe("include.posts.take");
    expect((await failing({ posts: 5 }))[1]).toBe("include.posts");
    expect((await failing({ boss: { take: 1 } }))[1]).toBe("include.boss.take");
    expect((await failing({ posts: { where: { authorId: "b" } } }))[1]).toBe(
      "include.posts.where.authorId",
    );
    expect((await failing({ posts: { where: { title: "x" } } }))[0]).toBe("KW_QUERY_UNINDEXED");
  });

  it("does not believe an entry whose row refers to another", async () => {
    await fillBlog();
    // What a mistake of code by hand leaves behind.
    await kv.set(["posts_by_author", "a", "p3"], "p3");
    await kv.set(["posts_by_author", "a", "gone"], "gone");
    const ada = await db.users.findUnique({ where: { id: "a" }, include: { posts: true } });
    expect(ada?.posts.map((post) => post.id)).toEqual(["p1", "p2"]);
  });

  it("tells of a row that has to be there and is not", async () => {
    await kv.set(["posts", "p"], { id: "p", authorId: "nobody", title: "", rank: 0 });
    await kv.set(["comments", "c"], { id: "c", postId: "p", authorId: "nobody", text: "" });
    const where = { id: "p" };
    expect(
      await rejection(db.posts.findUnique({ where, include: { author: true } })),
    ).toMatchObject({
      code: "KW_REFERENCE_MISSING",
      relation: "author",
      target: "users",
      targetId: "nobody",
    });
    const comment = await db.comments.findUnique({
      where: { id: "c" },
      include: { author: true },
    });
    expect(comment?.author).toBe(null);
  });

  it("reads again where the row goes while its relation is read", async () => {
    await fillBlog();
    const { kv: racing } = countingKv(withoutViews(kv));
    const slow = new Proxy(racing, {
      get(target, property) {
        if (property !== "get") return Reflect.get(target, property) as unknown;
        return async (key: readonly string[]) => {
          if (key[0] === "users")
            await db.users.delete({ where: { id: "b" } }).catch(() => undefined);
          return await target.get(key);
        };
      },
    });
    const reader = await createDatabase({ kv: slow, models: blogModels });
    // Its author is deleted between the two, and the post with it.
    const read = reader.posts.findUnique({ where: { id: "p3" }, include: { author: true } });
    expect(await read).toBe(null);
  });

  it("shows a transaction its own writes", async () => {
    await fillBlog();
    await db.transaction(async (tx) => {
      await tx.posts.create({ data: { id: "p4", authorId: "c", title: "Four" } });
      await tx.posts.delete({ where: { id: "p1" } });
      const { items } = await tx.users.scan({ include: { posts: { select: { id: true } } } });
      expect(items.map((user) => user.posts.map((post) => post.id))).toEqual([
        ["p2"],
        ["p3"],
        ["p4"],
      ]);
    });
  });
});

describe("what include reads", () => {
  const count = async (read: (own: typeof db) => Promise<unknown>) => {
    const counting = countingKv(kv);
    const own = await createDatabase({ kv: counting.kv, models: blogModels });
    Object.assign(counting.calls, { get: 0, getMany: 0, list: 0, commit: 0 });
    await read(own);
    return counting.calls;
  };

  it("is one read for all rows that others belong to", async () => {
    await fillBlog();
    const calls = await count((own) => own.posts.scan({ include: { author: true } }));
    expect(calls).toEqual({ get: 0, getMany: 1, list: 1, commit: 0 });
  });

  it("is one range over those of all rows and one read for the rows in it", async () => {
    await fillBlog();
    // One list for the users, one for the posts of all three, and one read of the posts.
    expect(await count((own) => own.users.scan({ include: { posts: true } }))).toEqual({
      get: 0,
      getMany: 1,
      list: 2,
      commit: 0,
    });
    const nested = { posts: { include: { comments: { include: { author: true } } } } } as const;
    // And one list for the comments of all posts, one read of the comments, one of their authors.
    expect(await count((own) => own.users.scan({ include: nested }))).toEqual({
      get: 0,
      getMany: 3,
      list: 3,
      commit: 0,
    });
  });

  it("is two reads for rows that are found by a unique index", async () => {
    await fillBlog();
    const calls = await count((own) => own.users.scan({ include: { profile: true } }));
    // The index's three keys, then the one row.
    expect(calls).toEqual({ get: 1, getMany: 1, list: 1, commit: 0 });
  });

  it("is one range over the rows between, and one read for the rows behind all of them", async () => {
    await fillBlog();
    const calls = await count((own) => own.posts.scan({ include: { tags: true } }));
    expect(calls).toEqual({ get: 0, getMany: 1, list: 2, commit: 0 });
  });

  it("does not read more than may be read", async () => {
    await fillBlog();
    const read = (maxReads: number) => db.users.scan({ maxReads, include: { posts: true } });
    // Three users, three entries, three posts.
    expect((await read(9)).items).toHaveLength(3);
    expect(await rejection(Promise.resolve(read(8)))).toMatchObject({ code: "KW_READ_LIMIT" });
  });
});

it("a database needs the models of all relations", async () => {
  expect(await refusal(User)).toContain("the database has no model");
  const One = defineModel({
    name: "ones",
    schema: z.object({ id }),
    primaryKey: "id",
    relations: { self: hasOne("ones", "id") },
  });
  const own = await createDatabase({ kv, models: { ones: One } });
  await own.ones.create({ data: { id: "1" } });
  const found = await own.ones.findUnique({ where: { id: "1" }, include: { self: true } });
  expect(found?.self).toEqual({ id: "1" });
});

it("a delete returns what the row was related to, which may go with it", async () => {
  const own = await openKv();
  try {
    const blog = await createDatabase({ kv: own, models: blogModels });
    await blog.users.create({ data: { id: "u", name: "U" } });
    await blog.posts.create({ data: { id: "p", authorId: "u", title: "P" } });
    const gone = await blog.users.delete({ where: { id: "u" }, include: { posts: true } });
    expect(gone.posts.map((post) => post.id)).toEqual(["p"]);
    expect(await blog.posts.count()).toBe(0);
  } finally {
    await own.close();
  }
});
