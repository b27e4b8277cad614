import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { type Rows, rowsOf } from "../src/codegen.js";
import { createDatabase, defineModel, InvalidQueryError } from "../src/index.js";

/** A unique index of every kind. Two of them have the same field, and one that of the primary key. */
const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.string(),
    email: z.string(),
    nick: z.string(),
    active: z.boolean(),
    tags: z.array(z.string()),
    team: z.string(),
    score: z.number(),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byExactEmail: { key: "email", unique: true },
    byActiveNick: { key: "nick", unique: true, where: (user) => user.active },
    byTag: { key: "tags", unique: true, each: true },
    byDomain: { key: (user) => user.email.split("@")[1], unique: true },
    byTeamAndScore: { key: ["team", "score"], unique: true },
    byOwnId: { key: "id", unique: true },
    byScore: { key: "score" },
    byScoreAndTeam: { key: ["score", "team"], count: true },
    bySomeTag: { key: "tags", each: true },
  },
});

type Conditions = Readonly<Record<string, unknown>>;
type UserRow = z.output<typeof User.schema>;

const ada = {
  id: "a",
  email: "Ada@a.org",
  nick: "x",
  active: true,
  tags: ["p", "q"],
  team: "t",
  score: 1,
};
const bob = { ...ada, id: "b", email: "bob@b.org", active: false, tags: ["r"], score: 2 };
const eve = { ...ada, id: "e", email: "eve@e.org", active: false, tags: [], team: "u", score: 3 };

let kv: EmbeddedKv;
let users: Rows<UserRow, UserRow, Partial<UserRow>>;

async function open() {
  const db = await createDatabase({ kv, models: { users: User } });
  users = rowsOf(db, "users");
  return db.users;
}

beforeEach(async () => {
  kv = await openKv();
  await open();
  await users.createMany({ data: [ada, bob, eve] });
});
afterEach(() => kv.close());

/** The first of a stream. */
async function firstOf<T>(stream: ReadableStream<T>): Promise<T | undefined> {
  for await (const value of stream) return value;
  return undefined;
}

describe("a row is found, watched and changed by the very index that is named:", () => {
  it.each<[string, Conditions, Conditions]>([
    ["byEmail", { email: "ADA@a.org" }, { email: "nobody@a.org" }],
    ["byExactEmail", { email: "Ada@a.org" }, { email: "ada@a.org" }],
    ["byActiveNick", { nick: "x" }, { nick: "y" }],
    ["byTag", { tags: "q" }, { tags: "z" }],
    ["byDomain", { byDomain: "a.org" }, { byDomain: "A.org" }],
    ["byTeamAndScore", { score: 1, team: "t" }, { team: "t", score: 3 }],
    ["byOwnId", { id: "a" }, { id: "z" }],
  ])("%s", async (index, where, other) => {
    expect(await users.findUnique({ index, where })).toEqual(ada);
    expect(await firstOf(users.watch({ index, where }))).toEqual(ada);
    expect(await users.findUnique({ index, where: other })).toBeNull();
    expect(await firstOf(users.watch({ index, where: other }))).toBeNull();
    const update = { nick: "x" };
    expect(await users.upsert({ index, where, create: {}, update })).toEqual(ada);
  });

  it("the row that it watches is the one that the index points to at the time", async () => {
    const reader = users.watch({ index: "byTag", where: { tags: "q" } }).getReader();
    expect((await reader.read()).value).toEqual(ada);
    await users.update({ where: { id: "a" }, data: { tags: [] } });
    expect((await reader.read()).value).toBeNull();
    await users.update({ where: { id: "b" }, data: { tags: ["q"] } });
    expect((await reader.read()).value).toMatchObject({ id: "b" });
    await reader.cancel();
  });
});

describe("an undefined value widens no list:", () => {
  it.each<[string, string, unknown]>([
    ["a value", "byScore", { score: undefined }],
    ["a bound", "byScore", { score: { gte: undefined } }],
    ["a bound beside another", "byScore", { score: { gte: 1, lt: undefined } }],
    ["a field", "byScoreAndTeam", { score: undefined }],
    ["a field behind another", "byScoreAndTeam", { score: 1, team: undefined }],
    ["a field that is misspelled", "byScoreAndTeam", { scoer: 1 }],
    ["a field of another index", "byScoreAndTeam", { email: "x" }],
    ["a field of the primary key", "byScore", { score: 1, id: "a" }],
    ["no object", "byScore", "1"],
    ["a list", "byScore", [1]],
    ["null", "byScore", null],
    ["no conditions", "byScoreAndTeam", undefined],
    ["an element", "bySomeTag", { tags: undefined }],
  ])("%s", async (_, index, conditions) => {
    const invalid = { code: "KW_QUERY_INVALID", model: "users" };
    const query = { index, where: conditions as Conditions };
    await expect(async () => users.findMany(query)).rejects.toMatchObject({
      ...invalid,
      operation: "findMany",
    });
    await expect(users.count(query)).rejects.toMatchObject({
      ...invalid,
      operation: "count",
    });
    await expect(async () => firstOf(users.watchMany(query))).rejects.toMatchObject({
      ...invalid,
      operation: "watch",
    });
  });

  it("no condition, or no bounds, is every row", async () => {
    const all = { index: "byScoreAndTeam", where: {} };
    const { items } = await users.findMany(all);
    expect(items).toEqual([ada, bob, eve]);
    const unbounded = { index: "byScore", where: { score: {} } };
    expect((await users.findMany(unbounded)).items).toEqual(items);
    expect(await firstOf(users.watchMany(unbounded))).toEqual(items);
    expect(await users.count(all)).toBe(3);
    const where = { score: 2, team: {} };
    expect((await users.findMany({ index: "byScoreAndTeam", where })).items).toEqual([bob]);
  });
});

it("a generated list takes an object within equals as a value, and refuses it", async () => {
  const list = async (index: string, where: Conditions) =>
    (await users.findMany({ index, where })).items;
  const isOne = { score: { equals: 1 }, team: { equals: "t" } };
  expect(await list("byScoreAndTeam", isOne)).toEqual([ada]);
  expect(await users.count({ index: "byScoreAndTeam", where: isOne })).toBe(1);
  expect(await list("bySomeTag", { tags: { equals: "q" } })).toEqual([ada]);
  const fromJson = JSON.parse('[{ "gt": "" }, {}, { "equals": "t" }]') as unknown[];
  for (const value of fromJson) {
    for (const where of [
      { score: { equals: 1 }, team: { equals: value } },
      { score: { equals: value }, team: { equals: "t" } },
    ]) {
      await expect(list("byScoreAndTeam", where)).rejects.toThrow(InvalidQueryError);
      await expect(users.count({ index: "byScoreAndTeam", where })).rejects.toThrow(
        InvalidQueryError,
      );
    }
    await expect(list("bySomeTag", { tags: { equals: value } })).rejects.toThrow(InvalidQueryError);
  }
  for (const value of fromJson.slice(0, 2)) {
    const where = { email: value };
    await expect(users.findUnique({ index: "byEmail", where })).rejects.toThrow(InvalidQueryError);
  }
});

describe("a generated repository answers values of another kind as a repository does:", () => {
  it("it refuses them", async () => {
    const byRepository = await open();
    const refused: [() => PromiseLike<unknown>, () => PromiseLike<unknown>][] = [
      [
        () => users.findUnique({ where: { id: 5 } }),
        () => byRepository.findUnique({ where: { id: 5 as never } }),
      ],
      [
        () => users.findUnique({ where: { id: undefined } }),
        () => byRepository.findUnique({ where: { id: undefined as never } }),
      ],
      [
        () => users.findUnique({ index: "byOwnId", where: { id: 5 } }),
        () => byRepository.findUnique({ where: { id: 5 as never } }),
      ],
      [
        () => users.findMany({ index: "byScore", where: { score: "1" } }),
        () => byRepository.findMany({ where: { score: "1" as never } }),
      ],
      [
        () => users.count({ index: "byScoreAndTeam", where: { score: "1", team: "t" } }),
        () => byRepository.count({ where: { score: "1" as never, team: "t" } }),
      ],
      [
        () => users.delete({ where: { id: undefined } }),
        () => byRepository.delete({ where: { id: undefined as never } }),
      ],
      [
        () => users.update({ where: { id: 5 }, data: {} }),
        () => byRepository.update({ where: { id: 5 as never }, data: {} }),
      ],
    ];
    for (const [ofGenerated, ofRepository] of refused) {
      const [own, other] = await Promise.all(
        [ofGenerated, ofRepository].map((call) =>
          call().then(
            () => undefined,
            ({ code, field, reason }) => ({ code, field, reason }),
          ),
        ),
      );
      expect(own).toEqual(other);
      expect(own).toMatchObject({ code: "KW_QUERY_INVALID" });
    }
  });

  it("and an order that is none", async () => {
    const options = { order: "DESC" as never };
    const query = { index: "byScore", where: {}, ...options };
    const invalid = { code: "KW_QUERY_INVALID", field: "order" };
    await expect(async () => users.findMany(query)).rejects.toMatchObject(invalid);
    await expect(async () => users.scan(options)).rejects.toMatchObject(invalid);
    expect(() => users.watchMany(query)).toThrow(expect.objectContaining(invalid));
  });

  it("and values of none, where the index is of something else", async () => {
    const conditions = [undefined, { gte: "a" }, null].map((value) => ({ byDomain: value }));
    for (const where of [...conditions, { byDomain: "a", team: "b" }, {}, { byDomian: "a" }]) {
      const invalid = { code: "KW_QUERY_INVALID" };
      const query = { index: "byDomain", where };
      await expect(users.findUnique(query)).rejects.toMatchObject(invalid);
      const upsert = users.upsert({ ...query, create: {}, update: {} });
      await expect(upsert).rejects.toMatchObject({ ...invalid, operation: "upsert" });
      expect(() => users.watch(query)).toThrow(
        expect.objectContaining({ ...invalid, operation: "watch" }),
      );
    }
  });
});

it("a list takes every kind of condition, forward and backward", async () => {
  const cases: [string, Conditions, UserRow[]][] = [
    ["byScore", { score: { in: [3, 1] } }, [ada, eve]],
    ["byScore", { score: { between: [2, 3] } }, [bob, eve]],
    ["byExactEmail", { email: { startsWith: "b" } }, [bob]],
    ["bySomeTag", { tags: { in: ["q", "r"] } }, [ada, bob]],
    ["bySomeTag", { tags: { gt: "q" } }, [bob]],
    ["byTeamAndScore", { team: { in: ["t", "u"] }, score: { gte: 2 } }, [bob, eve]],
  ];
  for (const [index, where, rows] of cases) {
    expect((await users.findMany({ index, where })).items).toEqual(rows);
    expect(await firstOf(users.watchMany({ index, where }))).toEqual(rows);
    const backward = { index, where, order: "desc" } as const;
    expect((await users.findMany(backward)).items).toEqual(rows.toReversed());
    expect(await firstOf(users.watchMany(backward))).toEqual(rows.toReversed());
    expect(await users.count({ index, where })).toBe(rows.length);
  }
});
