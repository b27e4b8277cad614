import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import type { IndexConditions } from "../src/database/table/index-query.js";
import { createDatabase, defineModel, type Table, tableOf } from "../src/index.js";

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
let users: Table<UserRow, UserRow, Partial<UserRow>>;

async function open() {
  const db = await createDatabase({ kv, models: { users: User } });
  users = tableOf(db, "users");
  return db.users;
}

beforeEach(async () => {
  kv = await openKv();
  await open();
  await users.createMany([ada, bob, eve]);
});
afterEach(() => kv.close());

/** The first of a stream. */
async function firstOf<T>(stream: ReadableStream<T>): Promise<T | undefined> {
  for await (const value of stream) return value;
  return undefined;
}

describe("a row is found, watched and changed by the very index that is named:", () => {
  it.each<[string, unknown[], unknown[]]>([
    ["byEmail", ["ADA@a.org"], ["nobody@a.org"]],
    ["byExactEmail", ["Ada@a.org"], ["ada@a.org"]],
    ["byActiveNick", ["x"], ["y"]],
    ["byTag", ["q"], ["z"]],
    ["byDomain", ["a.org"], ["A.org"]],
    ["byTeamAndScore", ["t", 1], ["t", 3]],
    ["byOwnId", ["a"], ["z"]],
  ])("%s", async (index, values, others) => {
    expect(await users.findByIndex(index, values)).toEqual(ada);
    expect(await firstOf(users.watchRowByIndex(index, values))).toEqual(ada);
    expect(await users.findByIndex(index, others)).toBeNull();
    expect(await firstOf(users.watchRowByIndex(index, others))).toBeNull();
    const update = { nick: "x" };
    expect(await users.upsertByIndex(index, values, { create: {}, update })).toEqual(ada);
  });

  it("the row that it watches is the one that the index points to at the time", async () => {
    const reader = users.watchRowByIndex("byTag", ["q"]).getReader();
    expect((await reader.read()).value).toEqual(ada);
    await users.update(["a"], { tags: [] });
    expect((await reader.read()).value).toBeNull();
    await users.update(["b"], { tags: ["q"] });
    expect((await reader.read()).value).toMatchObject({ id: "b" });
    await reader.cancel();
  });
});

describe("an undefined value widens no list:", () => {
  it.each<[string, string, unknown]>([
    ["a value", "byScore", [undefined]],
    ["a bound", "byScore", [{ gte: undefined }]],
    ["a bound beside another", "byScore", [{ gte: 1, lt: undefined }]],
    ["a field", "byScoreAndTeam", { score: undefined }],
    ["a field behind another", "byScoreAndTeam", { score: 1, team: undefined }],
    ["a field that is misspelled", "byScoreAndTeam", { scoer: 1 }],
    ["a field of another index", "byScoreAndTeam", { email: "x" }],
    ["more values than fields", "byScore", [1, 2]],
    ["no object", "byScore", "1"],
    ["null", "byScore", null],
    ["no conditions", "byScoreAndTeam", undefined],
    ["a list with a hole", "byScoreAndTeam", [, 3]],
    ["an element", "bySomeTag", [undefined]],
  ])("%s", async (_, index, conditions) => {
    const invalid = { code: "KW_QUERY_INVALID", model: "users" };
    const given = conditions as IndexConditions;
    await expect(async () => users.listByIndex(index, given)).rejects.toMatchObject({
      ...invalid,
      operation: "findMany",
    });
    await expect(users.countByIndex(index, given)).rejects.toMatchObject({
      ...invalid,
      operation: "count",
    });
    await expect(async () => firstOf(users.watchByIndex(index, given))).rejects.toMatchObject({
      ...invalid,
      operation: "watch",
    });
  });

  it("no condition, or no bounds, is every row", async () => {
    const { items } = await users.listByIndex("byScoreAndTeam", {});
    expect(items).toEqual([ada, bob, eve]);
    expect((await users.listByIndex("byScore", [{}])).items).toEqual(items);
    expect(await firstOf(users.watchByIndex("byScore", [{}]))).toEqual(items);
    expect(await users.countByIndex("byScoreAndTeam", {})).toBe(3);
    expect((await users.listByIndex("byScoreAndTeam", { score: 2, team: {} })).items).toEqual([
      bob,
    ]);
  });
});

describe("a table answers values of another kind as a repository does:", () => {
  it("it refuses them", async () => {
    const byRepository = await open();
    const refused: [() => PromiseLike<unknown>, () => PromiseLike<unknown>][] = [
      [
        () => users.findByPrimaryKey([5]),
        () => byRepository.findUnique({ where: { id: 5 as never } }),
      ],
      [
        () => users.findByPrimaryKey([undefined]),
        () => byRepository.findUnique({ where: { id: undefined as never } }),
      ],
      [
        () => users.findByIndex("byOwnId", [5]),
        () => byRepository.findUnique({ where: { id: 5 as never } }),
      ],
      [
        () => users.listByIndex("byScore", ["1"]),
        () => byRepository.findMany({ where: { score: "1" as never } }),
      ],
      [
        () => users.countByIndex("byScoreAndTeam", ["1", "t"]),
        () => byRepository.count({ where: { score: "1" as never, team: "t" } }),
      ],
      [
        () => users.delete([undefined]),
        () => byRepository.delete({ where: { id: undefined as never } }),
      ],
      [
        () => users.update([5], {}),
        () => byRepository.update({ where: { id: 5 as never }, data: {} }),
      ],
    ];
    for (const [ofTable, ofRepository] of refused) {
      const [own, other] = await Promise.all(
        [ofTable, ofRepository].map((call) =>
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
    const invalid = { code: "KW_QUERY_INVALID", field: "order" };
    await expect(async () => users.listByIndex("byScore", [], options)).rejects.toMatchObject(
      invalid,
    );
    await expect(async () => users.scan(options)).rejects.toMatchObject(invalid);
    expect(() => users.watchByIndex("byScore", [], options)).toThrow(
      expect.objectContaining(invalid),
    );
  });

  it("and values of none, where the index is of something else", async () => {
    for (const values of [[undefined], [{ gte: "a" }], [null], ["a", "b"], []]) {
      const invalid = { code: "KW_QUERY_INVALID" };
      await expect(users.findByIndex("byDomain", values)).rejects.toMatchObject(invalid);
      expect(() => users.watchRowByIndex("byDomain", values)).toThrow(
        expect.objectContaining({ ...invalid, operation: "watch" }),
      );
    }
  });
});

it("a list takes every kind of condition, forward and backward", async () => {
  const cases: [string, IndexConditions, UserRow[]][] = [
    ["byScore", [{ in: [3, 1] }], [ada, eve]],
    ["byScore", [{ between: [2, 3] }], [bob, eve]],
    ["byExactEmail", [{ startsWith: "b" }], [bob]],
    ["bySomeTag", [{ in: ["q", "r"] }], [ada, bob]],
    ["bySomeTag", [{ gt: "q" }], [bob]],
    ["byTeamAndScore", { team: { in: ["t", "u"] }, score: { gte: 2 } }, [bob, eve]],
  ];
  for (const [index, conditions, rows] of cases) {
    expect((await users.listByIndex(index, conditions)).items).toEqual(rows);
    expect(await firstOf(users.watchByIndex(index, conditions))).toEqual(rows);
    const order = { order: "desc" } as const;
    expect((await users.listByIndex(index, conditions, order)).items).toEqual(rows.toReversed());
    expect(await firstOf(users.watchByIndex(index, conditions, order))).toEqual(rows.toReversed());
    expect(await users.countByIndex(index, conditions)).toBe(rows.length);
  }
});
