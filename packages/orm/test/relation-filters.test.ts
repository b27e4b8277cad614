import { openKv } from "@keywright/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createDatabase } from "../src/index.js";
import {
  type PlainData,
  type PlainQuery,
  plainData,
  plainQuery,
  plainResult,
} from "./filter-model.js";
import { filterModels } from "./filter-models.js";

const runs = Number(process.env.KEYWRIGHT_FILTER_RUNS ?? 12);

/** The methods as a program without types calls them. */
type Untyped = Readonly<
  // biome-ignore lint/suspicious/noExplicitAny: the results are compared, whatever they are.
  Record<string, Readonly<Record<string, (argument?: unknown) => Promise<any>>>>
>;

async function filled(kv: Awaited<ReturnType<typeof openKv>>, data: PlainData) {
  const db = await createDatabase({ kv, models: filterModels });
  const untyped = db as unknown as Untyped;
  for (const table of ["users", "tags", "posts", "badges", "postTags", "links"] as const) {
    const rows = data[table].map(({ id, ...row }) => (table === "postTags" ? row : { id, ...row }));
    await untyped[table]!.createMany!({ data: rows, atomic: true });
  }
  return { db, untyped };
}

const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

async function compare(db: Untyped, data: PlainData, query: PlainQuery): Promise<string> {
  const { table, where, orderBy, take } = query;
  const rows = db[table]!;
  const expected = plainResult(data, query);
  const asked = { where, ...(orderBy && { orderBy }) };
  if (Object.keys(where).length === 0 && orderBy === undefined) return "empty";
  let all: { items: { id: string }[]; cursor: string | null };
  try {
    all = await rows.findMany!(asked);
  } catch (error) {
    // Only conditions that cannot find rows, and nothing else, are refused.
    expect(error).toMatchObject({ code: "KW_QUERY_UNINDEXED" });
    const text = JSON.stringify(where);
    expect(orderBy).toBe(undefined);
    expect(text).toMatch(/none|isNot|"is":null|\{"is":\{"badge"|"some":\{\}/);
    return "refused";
  }
  expect(ids(all.items)).toEqual(expected);
  expect(all.cursor).toBe(null);
  const paged: string[] = [];
  let cursor: string | null = null;
  do {
    const page: typeof all = await rows.findMany!({ ...asked, take, cursor });
    expect(page.items.length).toBeLessThanOrEqual(take);
    paged.push(...ids(page.items));
    cursor = page.cursor;
  } while (cursor !== null);
  expect(paged).toEqual(expected);
  const streamed: string[] = [];
  for await (const { id } of rows.findMany!(asked) as unknown as AsyncIterable<{ id: string }>) {
    streamed.push(id);
  }
  expect(streamed).toEqual(expected);
  expect(await rows.count!(asked)).toBe(expected.length);
  expect(await rows.exists!(asked)).toBe(expected.length > 0);
  expect((await rows.findFirst!(asked))?.id).toBe(expected[0]);
  return expected.length > 0 ? "found" : "nothing";
}

it("finds the rows that plain arrays have, in order and in pages", async () => {
  const outcomes: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(
      plainData,
      fc.array(plainQuery, { minLength: 6, maxLength: 6 }),
      async (data, queries) => {
        await using kv = await openKv();
        const { untyped } = await filled(kv, data);
        for (const query of queries) {
          const outcome = await compare(untyped, data, query);
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        }
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
});
