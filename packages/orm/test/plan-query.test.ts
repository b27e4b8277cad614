import { denoOrder, specificationOrder } from "@keywright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineModel,
  desc,
  InvalidQueryError,
  type Model,
  UnindexedQueryError,
} from "../src/index.js";
import { compileModel } from "../src/model/compile-model.js";
import type { AnyRow } from "../src/model/compiled-model.js";
import { descendingPart } from "../src/model/keys/key-parts.js";
import { type PlannedQuery, planQuery, planScan } from "../src/read/plan/plan-query.js";
import { planUnique, uniquePart } from "../src/read/plan/plan-unique.js";
import type { QueryPlan } from "../src/read/plan/ranges/query-plan.js";

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
      tags: z.array(z.string()),
    }),
    primaryKey: "id",
    indexes: {
      byTeam: { key: "team", normalize: (team) => team.toUpperCase() },
      byTeamAndScore: { key: ["team", "score"] },
      byPlaceAndDay: { key: ["place", "day"], unique: true },
    },
  }),
);

const zoo = compileModel(
  defineModel({
    name: "zoo",
    schema: z.object({
      id: z.string(),
      a: z.string(),
      b: z.number(),
      c: z.number().optional(),
      open: z.boolean(),
      tags: z.array(z.string()),
    }),
    primaryKey: "id",
    indexes: {
      byAAndB: { key: ["a", desc("b")] },
      byB: { key: desc("b") },
      byC: { key: "c" },
      byTag: { key: "tags", each: true },
      byAAndTag: { key: ["a", "tags"], each: true },
      byOpen: { key: "a", where: (row) => row.open },
      byLength: { key: (row) => row.a.length },
      byIncluding: { key: "a", include: ["b"] },
      byUniqueB: { key: "b", unique: true },
    },
  }),
);

const flat = ({ index, segments, reverse }: QueryPlan) => ({
  index: index?.name,
  segments: segments.map(({ equals, interval }) => ({ equals, ...interval })),
  reverse,
});
const best = (query: PlannedQuery, of = model) => flat(planQuery(of, query)[0]!);
const names = (query: PlannedQuery, of = zoo) =>
  planQuery(of, query).map(({ index }) => index?.name ?? "primaryKey");

describe("planQuery", () => {
  it("prefers the index that pins the most fields", () => {
    expect(best({ where: { team: "a" } })).toEqual({
      index: "byTeam",
      segments: [{ equals: ["A"] }],
      reverse: false,
    });
    expect(best({ where: { team: "a", score: 1 } }).index).toBe("byTeamAndScore");
    expect(best({ where: { team: "a", score: { gte: 1, lt: 3 } } })).toEqual({
      index: "byTeamAndScore",
      segments: [{ equals: ["a"], start: 1, end: 3 }],
      reverse: false,
    });
  });

  it("then one that holds what is selected, then a unique one", () => {
    expect(names({ where: { a: "x" } })).toEqual(["byAAndB", "byIncluding"]);
    expect(names({ where: { a: "x" }, select: { b: true } })).toEqual(["byIncluding", "byAAndB"]);
    expect(names({ where: { a: "x" }, select: { open: true } })[0]).toBe("byAAndB");
    expect(names({ where: { b: 1 } })).toEqual(["byUniqueB", "byB"]);
  });

  it("reads the rows themselves for the primary key, and continues with it behind an index", () => {
    expect(best({ where: { id: { gte: "a", lt: "b" } } })).toEqual({
      index: undefined,
      segments: [{ equals: [], start: "a", end: "b" }],
      reverse: false,
    });
    const behind = { where: { team: "a", id: { gte: "x" } }, orderBy: { id: "desc" } } as const;
    expect(best(behind)).toMatchObject({
      index: "byTeam",
      segments: [{ equals: ["A"], start: "x" }],
      reverse: true,
    });
  });

  it("orders by the field that comes next in the key, and by pinned ones at will", () => {
    expect(best({ where: { team: "a" }, orderBy: { score: "desc" } })).toMatchObject({
      index: "byTeamAndScore",
      segments: [{ equals: ["a"] }],
      reverse: true,
    });
    expect(best({ orderBy: [{ team: "asc" }, { score: "asc" }] }).index).toBe("byTeamAndScore");
    expect(best({ where: { team: "a" }, orderBy: { team: "asc", score: "desc" } }).reverse).toBe(
      true,
    );
    expect(best({ where: { team: "a" }, orderBy: [{ score: "desc" }, { id: "desc" }] }).index).toBe(
      "byTeamAndScore",
    );
  });

  it("serves an order of two directions as the index has it, or all of it reversed", () => {
    expect(best({ orderBy: [{ a: "asc" }, { b: "desc" }] }, zoo)).toMatchObject({
      index: "byAAndB",
      reverse: false,
    });
    expect(best({ orderBy: [{ a: "desc" }, { b: "asc" }] }, zoo).reverse).toBe(true);
    expect(best({ orderBy: { b: "asc" }, where: { a: "x" } }, zoo).reverse).toBe(true);
    expect(() => planQuery(zoo, { orderBy: [{ a: "asc" }, { b: "asc" }] })).toThrow(
      expect.objectContaining({
        code: "KW_QUERY_UNINDEXED",
        suggestion: 'byAAndB2: { key: ["a", "b"] }',
      }),
    );
  });

  it("swaps the bounds of a descending part", () => {
    const behind = (part: Uint8Array) => Uint8Array.from([...part, 0]);
    expect(best({ where: { a: "x", b: { gte: 1, lt: 5 } } }, zoo)).toEqual({
      index: "byAAndB",
      segments: [
        {
          equals: ["x"],
          start: behind(descendingPart(5, specificationOrder)),
          end: behind(descendingPart(1, specificationOrder)),
        },
      ],
      reverse: false,
    });
  });

  it("holds a date as its milliseconds", () => {
    const day = new Date(86_400_000);
    expect(best({ where: { place: "p", day } }).segments).toEqual([{ equals: ["p", 86_400_000] }]);
    const within = { where: { place: "p", day: { between: [new Date(0), day] } } };
    expect(best(within).segments).toEqual([{ equals: ["p"], start: 0, end: 86_400_000.00000001 }]);
  });

  it("keeps an open range within the type of its bound", () => {
    expect(best({ where: { place: { gt: "a" } } }).segments).toEqual([
      { equals: [], start: "a\0", end: Number.NEGATIVE_INFINITY, type: "string" },
    ]);
    expect(best({ where: { place: "p", day: { lt: new Date(5) } } }).segments).toEqual([
      { equals: ["p"], start: Number.NEGATIVE_INFINITY, end: 5 },
    ]);
    expect(() => planQuery(model, { where: { place: { gt: 1, lt: "a" } } })).toThrow(
      expect.objectContaining({ reason: "its two bounds must have the same type" }),
    );
  });

  it("makes a range of strings that begin alike, by code points", () => {
    const range = (startsWith: string) => {
      const [segment] = best({ where: { place: { startsWith } } }).segments;
      return [segment?.start, segment?.end];
    };
    expect(range("ab")).toEqual(["ab", "ac"]);
    expect(range("a\u{10ffff}")).toEqual(["a\u{10ffff}", "b"]);
    expect(range("a\ud7ff")).toEqual(["a\ud7ff", "a\ue000"]);
    expect(range("\uffff")).toEqual(["\uffff", "\u{10000}"]);
    expect(range("😀")).toEqual(["😀", "😁"]);
    expect(range("\u{10ffff}")).toEqual(["\u{10ffff}", Number.NEGATIVE_INFINITY]);
    expect(range("")).toEqual(["", Number.NEGATIVE_INFINITY]);
    const [normalized] = best({ where: { team: { startsWith: "re" } } }).segments;
    expect([normalized?.start, normalized?.end]).toEqual(["RE", "RF"]);
  });

  it("makes a segment for each combination of values, in the order of the keys, each once", () => {
    const where = { team: { in: ["b", "a", "b"] }, score: { in: [2, -1] } };
    expect(best({ where })).toEqual({
      index: "byTeamAndScore",
      segments: [
        { equals: ["a", -1] },
        { equals: ["a", 2] },
        { equals: ["b", -1] },
        { equals: ["b", 2] },
      ],
      reverse: false,
    });
    expect(best({ where: { b: { in: [1, 3, 2] } } }, zoo).segments).toHaveLength(3);
    expect(best({ where: { team: { in: [] } } }).segments).toEqual([]);
    const descending = planQuery(zoo, { where: { a: "x", b: { in: [1, 3] } } })[0]!;
    expect(descending.segments.map(({ equals }) => equals[1])).toEqual([
      descendingPart(3, specificationOrder),
      descendingPart(1, specificationOrder),
    ]);
  });

  it("sorts values of several types as the database does", () => {
    const mixed = { where: { place: { in: [1, 1n, "a"] } } };
    const values = (plans: QueryPlan[]) => plans[0]!.segments.map(({ equals }) => equals[0]);
    expect(values(planQuery(model, mixed))).toEqual(["a", 1, 1n]);
    expect(values(planQuery({ ...model, keyOrder: denoOrder }, mixed))).toEqual(["a", 1n, 1]);
  });

  it("takes several values for a range as far as the order goes", () => {
    const where = { team: { in: ["a", "b"] } };
    expect(best({ where, orderBy: [{ team: "desc" }, { score: "desc" }] })).toMatchObject({
      index: "byTeamAndScore",
      reverse: true,
    });
    expect(() => planQuery(model, { where, orderBy: { score: "asc" } })).toThrow(
      expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }),
    );
  });

  it.each([0, 1, 2])("has the same orders for a list of %i values as for another", (length) => {
    const team = { in: ["a", "b"].slice(0, length) };
    expect(best({ where: { team }, orderBy: { team: "desc" } }).reverse).toBe(true);
    expect(() => planQuery(model, { where: { team }, orderBy: { score: "asc" } })).toThrow(
      expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }),
    );
    const tags = { has: { in: team.in } };
    expect(() => planQuery(zoo, { where: { tags }, orderBy: { id: "asc" } })).toThrow(
      expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }),
    );
  });

  it("names the field of a value that no key holds, and of one that a function does not take", () => {
    const lone = "a\ud83d";
    const cause = new Error("no");
    const odd = compileModel(
      defineModel({
        name: "odd",
        schema: z.object({ id: z.string(), a: z.string(), b: z.string(), c: z.string() }),
        primaryKey: "id",
        indexes: {
          byA: { key: "a", unique: true, normalize: (a) => (a === "?" ? lone : a) },
          byB: { key: desc("b") },
          byC: {
            key: "c",
            normalize: () => {
              throw cause;
            },
          },
        },
      }),
    );
    for (const field of ["id", "a", "b"]) {
      for (const value of [lone, { in: ["a", lone] }, { gte: lone }, { startsWith: lone }]) {
        expect(() => planQuery(odd, { where: { [field]: value } })).toThrow(
          expect.objectContaining({
            code: "KW_QUERY_INVALID",
            field,
            reason: expect.stringContaining("lone surrogate"),
          }),
        );
      }
    }
    expect(() => planQuery(odd, { where: { a: "?" } })).toThrow(
      expect.objectContaining({ code: "KW_QUERY_INVALID", field: "a" }),
    );
    expect(() => planQuery(odd, { where: { c: "x" } })).toThrow(
      expect.objectContaining({ code: "KW_QUERY_INVALID", field: "c", cause }),
    );
    expect(() => uniquePart(odd, "id", { id: lone })).toThrow(
      expect.objectContaining({ code: "KW_QUERY_INVALID", field: "id" }),
    );
  });

  it("bounds how many segments a query has", () => {
    const few = Array.from({ length: 32 }, (_, i) => i);
    const where = { team: { in: few.map(String) }, score: { in: few } };
    expect(() => planQuery(model, { where })).toThrow(
      expect.objectContaining({
        code: "KW_QUERY_INVALID",
        reason: "the values of in combine to more than 1000 ranges; pass fewer values",
      }),
    );
  });

  it("uses an index of elements for its array alone, and a computed one by its name", () => {
    expect(names({ where: { tags: { has: "x" } } })).toEqual(["byTag"]);
    expect(names({ where: { a: "x", tags: { has: { startsWith: "x" } } } })).toEqual(["byAAndTag"]);
    expect(names({ where: { byLength: { gte: 3 } } })).toEqual(["byLength"]);
    expect(names({ orderBy: { byLength: "desc" } })).toEqual(["byLength"]);
    expect(names({ where: { a: "x" } })).not.toContain("byAAndTag");
    for (const where of [{ tags: "x" }, { a: { has: "x" } }, { tags: { has: { has: "x" } } }]) {
      expect(() => planQuery(zoo, { where })).toThrow(
        expect.objectContaining({ code: "KW_QUERY_INVALID" }),
      );
    }
  });

  it("uses the index that the query names, whatever rows it lacks, and a partial one only so", () => {
    expect(names({ where: { a: "x" } })).not.toContain("byOpen");
    expect(names({ where: { a: "x" }, index: "byOpen" })).toEqual(["byOpen"]);
    expect(names({ index: "byC" })).toEqual(["byC"]);
    expect(names({ index: "byAAndTag", where: { a: "x" } })).toEqual(["byAAndTag"]);
    expect(() => planQuery(zoo, { index: "byNothing" })).toThrow(
      expect.objectContaining({ code: "KW_INDEX_UNKNOWN", index: "byNothing" }),
    );
    expect(() => planQuery(zoo, { index: "byC", where: { a: "x" } })).toThrow(
      expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }),
    );
  });

  it("continues after a primary key's field that the index has already", () => {
    const member = compileModel(
      defineModel({
        name: "members",
        schema: z.object({ team: z.string(), number: z.bigint(), score: z.number() }),
        primaryKey: ["team", "number"],
        indexes: { byScore: { key: ["team", "score"] } },
      }),
    );
    const where = { team: "red", score: 1, number: { gte: 3n, lt: 5n } };
    expect(best({ where, orderBy: { number: "desc" } }, member)).toEqual({
      index: "byScore",
      segments: [{ equals: ["red", 1, "red"], start: 3n, end: 5n }],
      reverse: true,
    });
  });

  it.each<[string, PlannedQuery]>([
    ["a field that no index has", { where: { notes: "x" } }],
    ["a field behind a gap", { where: { score: 1 } }],
    ["a further field beside an index", { where: { team: "a", notes: "x" } }],
    ["two ranges", { where: { team: { gte: "a" }, score: { gte: 1 } } }],
    ["an order that is not the index's", { where: { team: "a" }, orderBy: { notes: "asc" } }],
    ["two directions", { orderBy: [{ team: "asc" }, { score: "desc" }] }],
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
    expect(names({ where: { team: "a" } }, lacking)).toEqual(["byTeamAndPlace"]);
    expect(best({ where: { team: "a", score: { gt: 1 } } }, lacking).index).toBe("byTeamAndScore");
    expect(() => planQuery(lacking, { orderBy: { score: "asc" } })).toThrow(
      expect.objectContaining({
        code: "KW_QUERY_UNINDEXED",
        suggestion: 'index: "byScore" // leaves out rows that lack score',
      }),
    );
  });

  it.each<[PlannedQuery, string, string]>([
    [
      {},
      "where",
      "the query has no where, orderBy or index; add one, or read every row with scan()",
    ],
    [
      { where: {}, orderBy: [] },
      "where",
      "the query has no where, orderBy or index; add one, or read every row with scan()",
    ],
    [{ where: { taem: "x" } }, "taem", 'the model has no such field; did you mean "team"?'],
    [
      { where: { constructor: "x" } },
      "constructor",
      expect.stringMatching(/^the model has no such field; the fields are id, /),
    ],
    [{ where: "x" as never }, "where", "it must be a plain object"],
    [{ orderBy: { team: "DESC" as never } }, "team", 'its direction must be "asc" or "desc"'],
    [{ orderBy: "team" as never }, "orderBy", "it must be a plain object, or a list of them"],
  ])("refuses %j", (query, field, reason) => {
    expect(() => planQuery(model, query)).toThrow(
      expect.objectContaining({ code: "KW_QUERY_INVALID", field, reason }),
    );
  });

  const operators = "equals, has, in, between, gt, gte, lt, lte, startsWith";
  it.each([
    [undefined, "it is undefined; give a value, or leave the field out"],
    [null, "it is null; give a value, or leave the field out"],
    [{}, "it has no condition; add one, or leave the field out"],
    [{ gte: undefined }, "gte is undefined; give a value, or leave it out"],
    [{ gte: "a", lt: undefined }, "lt is undefined; give a value, or leave it out"],
    [
      { contains: "a" },
      `it has an unknown condition; the conditions are ${operators}; test others in filter: (row) => …`,
    ],
    [["a"], "it must be a value that a key can hold, or a condition such as { gte: … }"],
    [{ gt: "a", gte: "b" }, "it has both gt and gte; keep one"],
    [{ lt: "a", lte: "b" }, "it has both lt and lte; keep one"],
    [{ gte: null }, "a key cannot hold the value of gte"],
    [{ in: "a" }, "in must be a list"],
    [{ in: ["a", undefined] }, "a key cannot hold one of the values of in"],
    [{ in: ["a"], gt: "a" }, "in must be the only condition of the field"],
    [{ startsWith: 1 }, "startsWith must be a string"],
    [{ startsWith: "a", lt: "b" }, "startsWith must be the only condition of the field"],
    [{ between: ["a"] }, "between must be a list of two values"],
    [{ between: ["a", undefined] }, "lte is undefined; give a value, or leave it out"],
  ])("refuses the condition %j", (condition, reason) => {
    for (const field of ["place", "id"]) {
      expect(() => planQuery(model, { where: { [field]: condition } })).toThrow(
        expect.objectContaining({ code: "KW_QUERY_INVALID", field, reason }),
      );
    }
  });

  it.each<[PlannedQuery, string]>([
    [
      { where: { notes: "x" }, orderBy: { score: "asc" } },
      'byNotesAndScore: { key: ["notes", "score"] }',
    ],
    [
      { where: { day: { gt: new Date(0) }, notes: "x" } },
      'byNotesAndDay: { key: ["notes", "day"] }',
    ],
    [
      { orderBy: [{ score: "desc" }, { notes: "asc" }] },
      'byScoreAndNotes: { key: ["score", desc("notes")] }',
    ],
    [{ where: { tags: { has: "x" } } }, 'byTags: { key: "tags", each: true }'],
    [
      { where: { score: { gt: 1 }, notes: { gt: "a" } } },
      'byScore: { key: "score" } // and filter by notes',
    ],
    [
      { where: { notes: "x", score: { in: [1, 2] } }, orderBy: { day: "asc" } },
      'byNotesAndDay: { key: ["notes", "day"] } // and filter by score',
    ],
    [
      { where: { notes: "x" }, orderBy: [{ day: "desc" }, { id: "desc" }] },
      'byNotesAndDay: { key: ["notes", "day"] }',
    ],
    [
      { where: { team: { gt: "a" }, notes: "x" }, index: "byTeam" },
      'byNotesAndTeam: { key: ["notes", "team"] }',
    ],
    [{ where: { team: "a", score: 1 }, index: "byTeam" }, 'index: "byTeamAndScore"'],
    [{ where: { id: "a" }, index: "byPlaceAndDay" }, "// name no index: the primary key serves it"],
    [
      { where: { team: { gt: "a" }, score: { gt: 1 } } },
      "// filter by score: byTeam serves the rest",
    ],
    [
      { where: { score: { gt: 1 } }, orderBy: { id: "asc" } },
      "// filter by score: the primary key serves the rest",
    ],
  ])("suggests for %j an index that serves it", (query, suggestion) => {
    expect(() => planQuery(model, query)).toThrow(expect.objectContaining({ suggestion }));
  });
});

describe("a suggestion", () => {
  const schema = z.object({
    id: z.string(),
    at: z.string(),
    a: z.string(),
    b: z.string(),
    c: z.string().optional(),
    tags: z.array(z.string()),
    marks: z.array(z.string()),
    "first-name": z.string(),
  });
  const row = { schema, name: "rows", primaryKey: ["id", "at"] } as const;
  const models = [
    defineModel({ ...row, indexes: {} }),
    defineModel({
      ...row,
      indexes: {
        byA: { key: "a" },
        byAAndB: { key: ["a", desc("b")] },
        byAAndC: { key: ["a", "c"] },
        byTags: { key: "tags", each: true },
        byB: { key: "b", where: ({ a }) => a === "x" },
        byWords: { key: ({ b }) => b.split(" "), each: true },
        byInitial: { key: [({ a }) => a[0], "b"] },
      },
    }),
  ];
  const conditions = fc.constantFrom<unknown>("x", { in: ["x", "y"] }, { in: [] }, { gte: "x" });
  const fields = ["id", "at", "a", "b", "c", "first-name"] as const;
  const order = (names: readonly string[]) =>
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom("asc", "desc")), {
        maxLength: 3,
        selector: ([name]) => name,
      })
      .map((list) => list.map((one) => Object.fromEntries([one])));
  const arrays = fc.constantFrom(undefined, "tags", "marks");
  const queries = fc.constantFrom(...models).chain((of) => {
    const hasComputed = "byInitial" in of.indexes;
    return fc
      .tuple(
        fc.dictionary(fc.constantFrom(...fields), conditions, { maxKeys: 4 }),
        fc.dictionary(fc.constantFrom("tags", "marks"), conditions, { maxKeys: 2 }),
        hasComputed
          ? fc.dictionary(fc.constantFrom("byWords", "byInitial"), conditions, { maxKeys: 2 })
          : fc.constant({}),
        arrays.chain((list) => order(list === undefined ? fields : [...fields, list])),
      )
      .map(([where, has, computed, orderBy]) => ({
        of,
        query: {
          where: {
            ...where,
            ...Object.fromEntries(Object.entries(has).map(([name, one]) => [name, { has: one }])),
            ...computed,
          },
          orderBy,
        },
      }));
  });

  it("is an index that serves the query, and none that the model has", () => {
    let suggested = 0;
    fc.assert(
      fc.property(queries, ({ of, query }) => {
        const suggestion = suggestionFor(of, query);
        if (suggestion === undefined) return;
        suggested++;
        const code = suggestion.replace(/ ?\/\/.*/, "");
        const leftOver = /filter by ([^:]*)/.exec(suggestion)?.[1]?.split(", ") ?? [];
        const index = /index: "([^"]*)"/.exec(suggestion)?.[1];
        const isNew = code !== "" && !code.startsWith("index: ");
        const added = isNew ? evaluated(code) : {};
        for (const [name, { key }] of Object.entries(added)) {
          const isComputed = [key].flat().some((part) => typeof part === "function");
          if (!isComputed) expect(Object.keys(of.indexes)).not.toContain(name);
          // An index with a `where` lacks rows, so that another with the same key is needed.
          const keys = Object.values<{ key: unknown; where?: unknown }>(of.indexes)
            .filter(({ where }) => where === undefined)
            .map((own) => JSON.stringify([own.key].flat()));
          if (!isComputed) expect(keys).not.toContain(JSON.stringify([key].flat()));
        }
        const extended = { ...of, indexes: { ...of.indexes, ...added } } as Model;
        const where = Object.fromEntries(
          Object.entries(query.where).filter(([name]) => !leftOver.includes(name)),
        );
        const rest = { ...query, where, ...(index !== undefined && { index }) };
        expect(planQuery(compileModel(extended), rest).length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
    expect(suggested).toBeGreaterThan(400);
  });

  function suggestionFor(of: Model, query: PlannedQuery): string | undefined {
    try {
      planQuery(compileModel(of), query);
    } catch (error) {
      if (error instanceof UnindexedQueryError) return error.suggestion;
      if (!(error instanceof InvalidQueryError)) throw error;
    }
    return undefined;
  }

  function evaluated(code: string): Record<string, { key: unknown }> {
    const own = code.replace("(row) => …", "(row) => row.b");
    return new Function("desc", `return { ${own} }`)(desc) as Record<string, { key: unknown }>;
  }

  it("computes what no key holds", () => {
    const place = defineModel({
      name: "places",
      schema: z.object({ id: z.string(), at: z.object({ x: z.number() }), kind: z.string() }),
      primaryKey: "id",
      indexes: {},
    });
    const query = { where: { kind: "x" }, orderBy: { at: "asc" } } as const;
    expect(suggestionFor(place, query)).toBe('byKindAndAt: { key: ["kind", (row) => …] }');
  });

  it("is none for a condition on a whole array, or on the elements of what is no array", () => {
    for (const where of [{ tags: "x" }, { a: { has: "x" } }]) {
      expect(() => planQuery(compileModel(models[0]!), { where })).toThrow(
        expect.objectContaining({ code: "KW_QUERY_INVALID", field: Object.keys(where)[0] }),
      );
    }
  });
});

describe("planScan", () => {
  it("is in the order of the primary key or the reverse, and knows no conditions", () => {
    expect(flat(planScan(model, {}))).toEqual({
      index: undefined,
      segments: [{ equals: [] }],
      reverse: false,
    });
    expect(planScan(model, { orderBy: { id: "desc" } }).reverse).toBe(true);
    for (const query of [{ where: { id: "a" } }, { orderBy: { team: "asc" } }] as const) {
      expect(() => planScan(model, query)).toThrow(
        expect.objectContaining({ code: "KW_QUERY_INVALID" }),
      );
    }
  });
});

describe("planUnique", () => {
  it("takes the primary key or all fields of a unique index, in any order", () => {
    expect(planUnique(model, { id: "1" })).toEqual(["primaryKey"]);
    expect(planUnique(model, { day: new Date(), place: "p" })).toMatchObject([
      { name: "byPlaceAndDay" },
    ]);
    for (const where of [{ team: "a" }, { place: "p" }, { id: "1", team: "a" }]) {
      expect(() => planUnique(model, where)).toThrow(
        expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }),
      );
    }
  });

  it("suggests an index of the elements for an array", () => {
    expect(() => planUnique(model, { tags: "x" })).toThrow(
      expect.objectContaining({ suggestion: 'byTags: { key: "tags", unique: true, each: true }' }),
    );
  });

  it("refuses what is no value", () => {
    for (const where of [{}, { id: "1", team: undefined }]) {
      expect(() => planUnique(model, where)).toThrow(
        expect.objectContaining({ code: "KW_QUERY_INVALID" }),
      );
    }
    for (const id of [undefined, null, { gt: "a" }]) {
      expect(() => uniquePart(model, "id", { id })).toThrow(
        expect.objectContaining({ code: "KW_QUERY_INVALID", field: "id" }),
      );
    }
  });
});

describe("planQuery of a named index", () => {
  const index = model.indexes[1]!;
  const [first = "", second = ""] = index.fields;
  const plan = (where: AnyRow) => flat(planQuery(model, { index: index.name, where })[0]!).segments;

  it("takes values, then bounds", () => {
    expect(plan({})).toEqual([{ equals: [] }]);
    expect(plan({ [first]: "a" })).toEqual([{ equals: ["a"] }]);
    const bounded = { [first]: "a", [second]: { gte: 3, lt: 4 } };
    expect(plan(bounded)).toEqual([{ equals: ["a"], start: 3, end: 4 }]);
    expect(plan({ [first]: { in: ["b", "a"] } })).toEqual([{ equals: ["a"] }, { equals: ["b"] }]);
  });

  it("takes an element for an array", () => {
    const byTag = zoo.indexes.find(({ name }) => name === "byTag")!;
    const where = { [byTag.fields[0]!]: { has: "x" } };
    expect(planQuery(zoo, { index: "byTag", where, order: "desc" })).toMatchObject([
      { segments: [{ equals: ["x"] }], reverse: true },
    ]);
  });

  it("refuses a condition behind bounds or a gap", () => {
    for (const where of [{ [first]: { gt: "a" }, [second]: 1 }, { [second]: 1 }]) {
      expect(() => plan(where)).toThrow(expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }));
    }
  });

  it("refuses what is undefined, and empty bounds", () => {
    for (const condition of [undefined, { gte: undefined }, {}]) {
      expect(() => plan({ [first]: condition })).toThrow(
        expect.objectContaining({ code: "KW_QUERY_INVALID", field: first }),
      );
    }
  });
});
