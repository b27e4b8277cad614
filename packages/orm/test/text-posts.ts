import type { Kv } from "@keywright/core";
import * as fc from "fast-check";
import { expect } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";
import { loadStemmer } from "../src/text/languages.js";
import { type OracleRow, searchAll } from "./text-oracle.js";

export const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    tenant: z.string(),
    title: z.string(),
    body: z.string().optional(),
    draft: z.boolean(),
  }),
  primaryKey: "id",
  indexes: {
    search: {
      text: ["title", "body"],
      language: "english",
      weights: { title: 4 },
      key: ["tenant"],
      where: { draft: false },
    },
  },
});

const definition = {
  fields: [
    { field: "title", weight: 4 },
    { field: "body", weight: 1 },
  ],
  key: ["tenant"],
  analyzer: { version: "1", language: "english", foldsMarks: true, stopWords: [] },
} as const;

export const openPosts = (on: Kv) => createDatabase({ kv: on, models: { posts: Post } });
type Database = Awaited<ReturnType<typeof openPosts>>;
type Match = Awaited<ReturnType<Database["posts"]["search"]>>["items"][number];

export interface PostRow extends OracleRow {
  readonly id: string;
  readonly tenant: string;
  readonly title: string;
  readonly body?: string | undefined;
  readonly draft: boolean;
}

const words = [
  "quick",
  "brown",
  "fox",
  "foxes",
  "lazy",
  "dogs",
  "jumping",
  "cat",
  "car",
  "Ünicode",
];
const text = fc.array(fc.constantFrom(...words), { maxLength: 8 }).map((list) => list.join(" "));
export const postOf = fc.record(
  {
    id: fc.integer({ min: 0, max: 30 }).map((n) => `p${n}`),
    tenant: fc.constantFrom("a", "b"),
    title: text,
    body: text,
    draft: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  },
  { requiredKeys: ["id", "tenant", "title", "draft"] },
);

const queries = [
  "quick",
  "quick brown",
  '"quick brown"',
  "fox -lazy",
  "ca*",
  "title:fox OR dogs",
  '"brown fo*"',
  "jumpimg quick",
  "brovn",
  "unicode",
  '"lazy dogs" cat',
];

export async function expectSearches(db: Database, rows: readonly PostRow[]) {
  // Without a row, nothing has loaded it.
  await loadStemmer("english");
  for (const tenant of ["a", "b"]) {
    const own = rows.filter((row) => row.tenant === tenant && !row.draft);
    for (const query of queries) {
      const typos = query.includes("jumpimg") || query === "brovn";
      const expected = searchAll(definition, own, query, typos);
      const found = await db.posts.search({ query, where: { tenant }, take: 5, typos });
      const ofResult = ({ row, score }: Match) => ({ id: row.id, score: Math.round(score * 1e6) });
      const rounded = expected.map(({ id, score }) => ({ id, score: Math.round(score * 1e6) }));
      expect({ query, items: found.items.map(ofResult) }).toEqual({
        query,
        items: rounded.slice(0, 5),
      });
      expect(found.count).toBe(expected.length);
      const all = [...found.items];
      for (let { cursor } = found; cursor !== null; ) {
        const next: Awaited<ReturnType<Database["posts"]["search"]>> = await db.posts.search({
          query,
          where: { tenant },
          take: 2,
          typos,
          cursor,
        });
        all.push(...next.items);
        cursor = next.cursor;
      }
      expect(all.map(ofResult)).toEqual(rounded);
    }
  }
}
