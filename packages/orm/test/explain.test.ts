import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { defineModel } from "../src/index.js";
import type { QueryExplanation } from "../src/read/find/explain-query.js";
import type { AnyQuery } from "../src/state/context/any-query.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { meterOf, put, recordingKv, tableOn } from "./query-table.js";
import { explainQuery, findPage } from "./reads.js";

const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    author: z.string(),
    slug: z.string(),
    at: z.int(),
    tags: z.array(z.string()),
  }),
  primaryKey: "id",
  indexes: {
    byAuthor: { key: ["author", "at"], include: ["slug"] },
    bySlug: { key: "slug", unique: true },
    byTag: { key: "tags", each: true },
  },
});

let kv: EmbeddedKv;
let calls: string[];
let context: TableContext;
beforeEach(async () => {
  kv = await openKv();
  const recorded = recordingKv(kv);
  calls = recorded.calls;
  context = await tableOn(recorded.kv, Post);
  for (let i = 0; i < 20; i++) {
    const id = `p${i}`;
    await put(context, { id, author: "ada", slug: `s${i}`, at: i, tags: ["x", "y"] });
  }
  calls.length = 0;
});
afterEach(() => kv.close());

const explain = (query: AnyQuery) => explainQuery(context, query);

it.each<[AnyQuery, Omit<QueryExplanation, "model" | "leavesOut">]>([
  [
    { where: { id: "p1" } },
    {
      index: "primaryKey",
      kind: "unique",
      segments: [{ prefix: ["posts", "p1"] }],
      reverse: false,
      covered: true,
      reads: 1,
    },
  ],
  [
    { where: { slug: { in: ["b", "a"] } } },
    {
      index: "bySlug",
      kind: "points",
      segments: [{ prefix: ["posts_by_slug", "a"] }, { prefix: ["posts_by_slug", "b"] }],
      reverse: false,
      covered: false,
      reads: 4,
    },
  ],
  [
    { where: { author: "ada", at: { gte: 3, lt: 7 } }, orderBy: { at: "desc" }, take: 2 },
    {
      index: "byAuthor",
      kind: "range",
      segments: [
        {
          prefix: ["posts_by_author", "ada"],
          start: ["posts_by_author", "ada", 3],
          end: ["posts_by_author", "ada", 7],
        },
      ],
      reverse: true,
      covered: false,
      reads: 5,
    },
  ],
  [
    { where: { author: "ada" }, select: { slug: true }, take: 3 },
    {
      index: "byAuthor",
      kind: "range",
      segments: [{ prefix: ["posts_by_author", "ada"] }],
      reverse: false,
      covered: true,
      reads: 4,
    },
  ],
  [
    { where: { tags: { has: { startsWith: "x" } } }, take: 3 },
    {
      index: "byTag",
      kind: "range",
      segments: [
        { prefix: ["posts_by_tag"], start: ["posts_by_tag", "x"], end: ["posts_by_tag", "y"] },
      ],
      reverse: false,
      covered: false,
      reads: undefined,
    },
  ],
  [
    { orderBy: { id: "asc" } },
    {
      index: "primaryKey",
      kind: "scan",
      segments: [{ prefix: ["posts"] }],
      reverse: false,
      covered: true,
      reads: undefined,
    },
  ],
])("explains %j without reading", (query, explanation) => {
  expect(explain(query)).toEqual({ model: "posts", leavesOut: [], ...explanation });
  expect(calls).toEqual([]);
});

it("says how much is read at the most", async () => {
  const queries: AnyQuery[] = [
    { where: { id: { in: ["p1", "p2", "p3"] } }, take: 2 },
    { where: { slug: "s1" } },
    { where: { author: "ada" }, take: 5 },
    { where: { author: "ada" }, take: 5, select: { id: true, slug: true } },
    { where: { author: "ada" }, take: 50 },
    { orderBy: { id: "desc" }, take: 4 },
  ];
  for (const query of queries) {
    const meter = meterOf(context);
    await findPage(context, query, meter);
    expect(meter.reads).toBeLessThanOrEqual(explain(query).reads ?? 0);
    expect(meter.index).toBe(explain(query).index);
  }
});

it("refuses what findMany refuses", () => {
  expect(() => explain({})).toThrow(
    expect.objectContaining({ code: "KW_QUERY_INVALID", field: "where" }),
  );
  expect(() => explain({ where: { at: 1 } })).toThrow(
    expect.objectContaining({ code: "KW_QUERY_UNINDEXED" }),
  );
  expect(() => explain({ where: { author: "ada" }, filter: {} as never })).toThrow(
    expect.objectContaining({ code: "KW_ARGUMENT_INVALID", argument: "filter" }),
  );
  expect(() => explain({ index: "byNothing" })).toThrow(
    expect.objectContaining({ code: "KW_INDEX_UNKNOWN" }),
  );
});

it("does not say how much a range reads where values of other types may lie in it", async () => {
  const Mixed = defineModel({
    name: "mixed",
    schema: z.object({ id: z.string(), at: z.int(), value: z.union([z.bigint(), z.string()]) }),
    primaryKey: "id",
    indexes: { byValue: { key: "value" }, byAt: { key: "at" } },
  });
  const mixed = await tableOn(kv, Mixed);
  for (let i = 0; i < 9; i++)
    await put(mixed, { id: `${i}`, at: i, value: i < 7 ? `${i}` : BigInt(i) });
  const query = { where: { value: { lt: 100n } }, take: 1 };
  const meter = meterOf(mixed);
  await findPage(mixed, query, meter);
  expect(meter.reads).toBeGreaterThan(3);
  expect(explainQuery(mixed, query).reads).toBeUndefined();
  expect(explainQuery(mixed, { where: { at: { lt: 3 } }, take: 1 }).reads).toBe(3);
});
