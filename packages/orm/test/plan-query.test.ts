import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineModel } from "../src/index.js";
import { compileModel } from "../src/model/compile-model.js";
import { type FieldQuery, planIndexRead, planQuery, planUnique } from "../src/query/plan-query.js";

const model = compileModel(
  defineModel({
    name: "games",
    schema: z.object({
      id: z.string(),
      team: z.string(),
      score: z.number(),
      place: z.string(),
      day: z.date(),
      notes: z.string(),
    }),
    primaryKey: "id",
    indexes: {
      byTeam: { key: "team", normalize: (team) => team.toUpperCase() },
      byTeamAndScore: { key: ["team", "score"] },
      byPlaceAndDay: { key: ["place", "day"], unique: true },
    },
  }),
);

const best = (query: FieldQuery) => {
  const { index, ...read } = planQuery(model, query)[0]!;
  return { index: index?.name, ...read };
};

describe("planQuery", () => {
  it("prefers the index that pins the most fields", () => {
    expect(best({ where: { team: "a" } })).toEqual({
      index: "byTeam",
      equals: ["A"],
      range: {},
      reverse: false,
    });
    expect(best({ where: { team: "a", score: 1 } }).index).toBe("byTeamAndScore");
    expect(best({ where: { team: "a", score: { gte: 1, lt: 3 } } })).toEqual({
      index: "byTeamAndScore",
      equals: ["a"],
      range: { gte: 1, lt: 3 },
      reverse: false,
    });
  });

  it("reads the rows themselves for the primary key, and goes on with it behind an index", () => {
    expect(best({ where: { id: { gt: "a" } } })).toMatchObject({
      index: undefined,
      range: { gt: "a" },
    });
    const behind = { where: { team: "a", id: { gt: "x" } }, orderBy: { id: "desc" } } as const;
    expect(best(behind)).toMatchObject({
      index: "byTeam",
      equals: ["A"],
      range: { gt: "x" },
      reverse: true,
    });
  });

  it("orders by the field that comes next in the key, and by pinned ones at will", () => {
    expect(best({ where: { team: "a" }, orderBy: { score: "desc" } })).toMatchObject({
      index: "byTeamAndScore",
      equals: ["a"],
      reverse: true,
    });
    expect(best({ orderBy: { team: "asc", score: "asc" } }).index).toBe("byTeamAndScore");
    expect(best({ where: { team: "a" }, orderBy: { team: "desc", score: "desc" } }).reverse).toBe(
      true,
    );
  });

  it("holds a date as its milliseconds", () => {
    const day = new Date(86_400_000);
    expect(best({ where: { place: "p", day } }).equals).toEqual(["p", 86_400_000]);
    expect(best({ where: { place: "p", day: { lte: day } } }).range).toEqual({ lte: 86_400_000 });
  });

  it.each<[string, FieldQuery]>([
    ["no condition", {}],
    ["a field that no index has", { where: { notes: "x" } }],
    ["a field behind a gap", { where: { score: 1 } }],
    ["a further field beside an index", { where: { team: "a", notes: "x" } }],
    ["two ranges", { where: { team: { gte: "a" }, score: { gte: 1 } } }],
    ["an order that is not the index's", { where: { team: "a" }, orderBy: { notes: "asc" } }],
    ["two directions", { orderBy: { team: "asc", score: "desc" } }],
    ["an absent value", { where: { team: null } }],
  ])("refuses %s", (_, query) => {
    expect(() => planQuery(model, query)).toThrow(
      expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }),
    );
  });

  it("leaves out an index whose further fields a row may lack, for it does not have such rows", () => {
    const lacking = compileModel(
      defineModel({
        name: "games",
        schema: z.object({
          id: z.string(),
          team: z.string(),
          score: z.number().nullish(),
          place: z.string().optional().default("home"),
        }),
        primaryKey: "id",
        indexes: {
          byTeamAndScore: { key: ["team", "score"] },
          byTeamAndPlace: { key: ["team", "place"] },
          byScore: { key: "score" },
        },
      }),
    );
    expect(planQuery(lacking, { where: { team: "a" } }).map(({ index }) => index?.name)).toEqual([
      "byTeamAndPlace",
    ]);
    expect(planQuery(lacking, { where: { team: "a", score: { gt: 1 } } })[0]?.index?.name).toBe(
      "byTeamAndScore",
    );
    expect(() => planQuery(lacking, { orderBy: { score: "asc" } })).toThrow(
      expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }),
    );
  });

  it.each([
    [{}, "it has no bounds"],
    [{ gte: undefined }, "it has no bounds"],
    [{ equals: 1 }, '"equals" is none of gt, gte, lt, lte'],
    [["a"], '"0" is none of gt, gte, lt, lte'],
    [{ gt: "a", gte: "b" }, "gt and gte are both given"],
    [{ lt: "a", lte: "b" }, "lt and lte are both given"],
    [{ gte: null }, "gte is not a value that a key can hold"],
  ])("refuses the condition %j", (condition, reason) => {
    for (const field of ["place", "id"]) {
      expect(() => planQuery(model, { where: { [field]: condition } })).toThrow(
        expect.objectContaining({ code: "KW_QUERY_INVALID", field, reason }),
      );
    }
  });

  it("suggests an index for what it refuses", () => {
    const query = { where: { notes: "x" }, orderBy: { score: "asc" } } as const;
    const suggestion = 'byNotesAndScore: { key: ["notes","score"] }';
    expect(() => planQuery(model, query)).toThrow(
      expect.objectContaining({ fields: ["notes", "score"], suggestion }),
    );
  });
});

describe("planUnique", () => {
  it("takes the primary key or all fields of a unique index, in any order", () => {
    expect(planUnique(model, { id: "1" })).toBe("primaryKey");
    expect(planUnique(model, { day: new Date(), place: "p" })).toMatchObject({
      name: "byPlaceAndDay",
    });
    for (const where of [
      {},
      { team: "a" },
      { place: "p" },
      { id: "1", team: "a" },
      { id: undefined },
    ]) {
      expect(() => planUnique(model, where)).toThrow(
        expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }),
      );
    }
  });
});

describe("planIndexRead", () => {
  const index = model.indexes[1]!;
  const plan = (values: unknown[]) => planIndexRead(model, index, values, false);

  it("takes values, then bounds", () => {
    expect(plan([])).toMatchObject({ equals: [], range: {} });
    expect(plan(["a", undefined])).toMatchObject({ equals: ["a"], range: {} });
    expect(plan(["a", { gt: 3 }])).toMatchObject({ equals: ["a"], range: { gt: 3 } });
    expect(plan(["a", {}])).toMatchObject({ equals: ["a"], range: {} });
  });

  it("refuses bounds before the last value, gaps and too many values", () => {
    for (const values of [
      [{ gt: "a" }, 1],
      [undefined, 1],
      ["a", 1, "id", 4],
    ]) {
      expect(() => plan(values)).toThrow(expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }));
    }
  });
});
