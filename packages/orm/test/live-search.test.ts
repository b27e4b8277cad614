import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import {
  belongsTo,
  createDatabase,
  defineModel,
  migrate,
  type QueryEvent,
  type SearchPage,
} from "../src/index.js";
import { countingWatches } from "./counting-watches.js";
import { denoKv } from "./faulty-kv.js";
import { Reports } from "./live-reports.js";
import { openDenoKv } from "./open-deno-kv.js";

// Small segments, so that few rows make several.
const sizes = { ...textSizes };
beforeEach(() => {
  Object.assign(textSizes, { fold: 4, marks: 2, fanOut: 2, changesBetween: 1, stepTime: 0 });
});
afterEach(() => {
  Object.assign(textSizes, sizes);
});

const Author = defineModel({
  name: "authors",
  schema: z.object({ id: z.string(), tenant: z.string(), name: z.string() }),
  primaryKey: "id",
  live: true,
});

const definition = {
  name: "posts",
  schema: z.object({
    id: z.string(),
    tenant: z.string(),
    authorId: z.string(),
    title: z.string(),
    body: z.string(),
    likes: z.int(),
  }),
  primaryKey: "id",
  relations: { author: belongsTo("authors", "authorId") },
} as const;
const search = {
  text: ["title", "body"],
  key: "tenant",
  language: "english",
  weights: { title: 3 },
} as const;
const byAuthor = { key: "authorId" } as const;
const Post = defineModel({ ...definition, indexes: { byAuthor, search }, live: true });
const models = { posts: Post, authors: Author };
const ada = { id: "ada", tenant: "a", name: "Ada" };

/** All posts are by Ada. */
async function open(kv: Kv, onQuery: (event: QueryEvent) => void = () => undefined) {
  const db = await createDatabase({ kv, models, onQuery });
  await db.authors.create({ data: ada });
  return db;
}
type Db = Awaited<ReturnType<typeof open>>;
type Row = z.infer<typeof definition.schema>;

const postOf = (id: string, body: string, more: Partial<Row> = {}): Row => ({
  ...{ id, tenant: "a", authorId: "ada", title: "", body, likes: 0 },
  ...more,
});
const where = { tenant: "a" };
const idsOf = (page: SearchPage<{ readonly id: string }> | "the end") =>
  page === "the end" ? page : page.items.map(({ row }) => row.id);

/** What is reported of a page: all but its scores. */
const essenceOf = ({ items, ...page }: SearchPage<unknown>) =>
  JSON.stringify({
    items: items.map(({ row, highlights }) => ({ row, highlights })),
    ...{ count: page.count, isLast: page.cursor === null, ignored: page.ignored },
  });

const databases: [name: string, open: () => Promise<Kv>][] = [
  ["a database in memory", () => openKv()],
  ["a database in Deno's mode", () => openKv(":memory:", { compat: "deno" })],
  ["the interface of Deno KV alone", async () => denoKv(await openKv())],
  ["@deno/kv", openDenoKv],
];

describe.each(databases)("a live search on %s", (_name, openOne) => {
  const withDb = async (run: (db: Db, kv: Kv) => Promise<void>) => {
    const kv = await openOne();
    try {
      await run(await open(kv), kv);
    } finally {
      await kv.close();
    }
  };

  it("reports a page at once, and when rows come, change, move and go", () =>
    withDb(async (db) => {
      await db.posts.create({ data: postOf("1", "a quick fox") });
      const pages = new Reports(db.posts.watchSearch({ query: "foxes", where, take: 2 }));
      const first = await pages.next();
      expect(idsOf(first)).toEqual(["1"]);
      expect(first).toEqual(await db.posts.search({ query: "foxes", where, take: 2 }));
      await db.posts.create({ data: postOf("2", "fox fox") });
      expect(idsOf(await pages.next())).toEqual(["2", "1"]);
      // Only the number of rows that match changes, and then there is another page.
      await db.posts.create({ data: postOf("3", "one fox among many other animals of the wood") });
      expect(await pages.next()).toMatchObject({ count: 3, cursor: expect.any(String) });
      await db.posts.update({ where: { id: "2" }, data: { likes: 1 } });
      expect(await pages.next()).toMatchObject({ items: [{ row: { likes: 1 } }, {}] });
      await db.posts.update({ where: { id: "3" }, data: { title: "Fox" } });
      expect(idsOf(await pages.next())).toContain("3");
      await db.posts.update({ where: { id: "3" }, data: { tenant: "b" } });
      expect(await pages.next()).toMatchObject({ count: 2, cursor: null });
      await db.posts.delete({ where: { id: "2" } });
      expect(idsOf(await pages.next())).toEqual(["1"]);
      await db.posts.update({ where: { id: "1" }, data: { body: "a dog" } });
      expect(await pages.next()).toMatchObject({ items: [], count: 0 });
      await pages.cancel();
    }));

  it("comes to the page that search finds, whatever is written, and reports none twice", async () => {
    const id = fc.integer({ min: 0, max: 9 }).map((n) => `p${n}`);
    const words = fc.constantFrom("fox", "foxes", "quick", "lazy", "dog", "cat", "car", "a", "b");
    const text = fc.array(words, { maxLength: 6 }).map((list) => list.join(" "));
    const write = fc.record({
      row: fc.record({
        id,
        tenant: fc.constantFrom("a", "a", "b"),
        authorId: fc.constant("ada"),
        title: text,
        body: text,
        likes: fc.integer({ min: 0, max: 2 }),
      }),
      kind: fc.constantFrom("put", "put", "put", "like", "delete"),
    });
    const searches = fc.record(
      {
        query: fc.constantFrom("fox", "fox quick", "ca* -dog", '"quick fox" OR lazy', "title:dog"),
        take: fc.constantFrom(1, 2, 20),
        filter: fc.constant((row: { likes: number }) => row.likes > 0),
        select: fc.constant({ id: true, likes: true } as const),
      },
      { requiredKeys: ["query", "take"] },
    );
    await fc.assert(
      fc.asyncProperty(searches, fc.array(write, { maxLength: 24 }), async (query, writes) => {
        await withDb(async (db) => {
          const options = { ...query, where } as Parameters<Db["posts"]["search"]>[0];
          const pages = new Reports<SearchPage<unknown>>(db.posts.watchSearch(options));
          let last = essenceOf((await pages.next()) as SearchPage<unknown>);
          for (const { row, kind } of writes) {
            const key = { where: { id: row.id } };
            if (kind === "put") await db.posts.upsert({ ...key, create: row, update: row });
            else if (kind === "delete") await db.posts.delete(key).catch(() => undefined);
            else await db.posts.update({ ...key, data: { likes: row.likes } }).catch(() => {});
            const now = essenceOf(await db.posts.search(options));
            while (last !== now) {
              const next = essenceOf((await pages.next()) as SearchPage<unknown>);
              expect(next).not.toBe(last);
              last = next;
            }
          }
          await pages.cancel();
        });
      }),
      { numRuns: 15 },
    );
  });

  it("follows included rows, and a scope sees its own rows only", () =>
    withDb(async (db) => {
      await db.posts.createMany({
        data: [postOf("1", "fox"), postOf("2", "fox", { tenant: "b" })],
      });
      const scoped = db.scope({ tenant: "a" });
      const pages = new Reports(
        scoped.posts.watchSearch({ query: "fox", include: { author: true } }),
      );
      expect(await pages.next()).toMatchObject({ items: [{ row: { author: { name: "Ada" } } }] });
      await db.authors.update({ where: { id: "ada" }, data: { name: "Eve" } });
      expect(await pages.next()).toMatchObject({ items: [{ row: { author: { name: "Eve" } } }] });
      await db.posts.create({ data: postOf("3", "a fox", { tenant: "b" }) });
      await scoped.posts.create({ data: { ...postOf("4", "a fox"), tenant: undefined } as never });
      expect(idsOf(await pages.next())).toEqual(["1", "4"]);
      await pages.cancel();
    }));

  it("ends when the database is closed, and when the signal is aborted", async () => {
    const kv = await openOne();
    const db = await open(kv);
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = new Reports(db.posts.watchSearch({ query: "fox", where, signal }));
    const closed = new Reports(db.posts.watchSearch({ query: "fox", where }));
    await Promise.all([aborted.next(), closed.next()]);
    const ends = [aborted.next(), closed.next()];
    controller.abort();
    expect(await ends[0]).toBe("the end");
    await kv.close();
    expect(await ends[1]).toBe("the end");
  });

  it("ends with the error of a search that cannot be made", () =>
    withDb(async (db) => {
      const limited = new Reports(db.posts.watchSearch({ query: "fox", where, maxReads: 3 }));
      await limited.next();
      await db.posts.createMany({ data: [1, 2, 3, 4].map((n) => postOf(`${n}`, "fox")) });
      await expect(limited.nextThat(() => false)).rejects.toMatchObject({
        code: "KW_READ_LIMIT",
        operation: "watch",
      });
    }));
});

describe("a live search", () => {
  let kv: EmbeddedKv;
  let events: QueryEvent[];
  const withPosts = async (run: (db: Db) => Promise<void>) => {
    kv = await openKv();
    events = [];
    const note = (event: QueryEvent) => {
      if (event.operation === "watch") events.push(event);
    };
    try {
      await run(await open(kv, note));
    } finally {
      await kv.close();
    }
  };

  it("is not made again for rows of other models, groups and words", () =>
    withPosts(async (db) => {
      // The search is also made again after a fold or a merge.
      Object.assign(textSizes, { fanOut: 1000 });
      for (let i = 0; i < 10; i++) await db.posts.create({ data: postOf(`p${i}`, `fox ${i}`) });
      await db.posts.create({ data: postOf("cat", "cats and dogs") });
      Object.assign(textSizes, { fold: 1000, marks: 1000 });
      const pages = new Reports(db.posts.watchSearch({ query: "fox", where, take: 3 }));
      expect(idsOf(await pages.next())).toEqual(["p0", "p1", "p2"]);
      const next = pages.next();
      await db.authors.create({ data: { id: "eve", tenant: "a", name: "fox" } });
      await db.posts.create({ data: postOf("other", "fox", { tenant: "b" }) });
      await db.posts.create({ data: postOf("dog", "a lazy dog") });
      await db.posts.update({ where: { id: "dog" }, data: { body: "two lazy dogs" } });
      await db.posts.update({ where: { id: "p9" }, data: { likes: 1 } });
      await db.posts.delete({ where: { id: "dog" } });
      await db.posts.delete({ where: { id: "cat" } });
      await db.posts.create({ data: postOf("q", "fox fox fox") });
      expect(idsOf(await next)).toEqual(["q", "p0", "p1"]);
      expect(events).toHaveLength(2);
      await pages.cancel();
    }));

  it("reports another order because of rows that do not match", () =>
    withPosts(async (db) => {
      await db.posts.createMany({
        data: [postOf("once", "fox"), postOf("twice", "fox fox dog dog dog")],
      });
      const pages = new Reports(db.posts.watchSearch({ query: "fox", where }));
      expect(idsOf(await pages.next())).toEqual(["once", "twice"]);
      // The longer the other rows are, the less the length of a row counts.
      const body = Array.from({ length: 40 }, (_, i) => `word${i}`).join(" ");
      await db.posts.create({ data: postOf("long", body) });
      expect(idsOf(await db.posts.search({ query: "fox", where }))).toEqual(["twice", "once"]);
      expect(idsOf(await pages.next())).toEqual(["twice", "once"]);
      await pages.cancel();
    }));

  it("sees rows that match go when they expire, also after the page", () =>
    withPosts(async (db) => {
      await db.posts.create({ data: postOf("1", "fox fox") });
      const data = postOf("2", "a fox and many other words");
      await db.posts.create({ data, expireIn: 700 });
      const pages = new Reports(db.posts.watchSearch({ query: "fox", where, take: 1 }));
      expect(await pages.next()).toMatchObject({ count: 2, items: [{ row: { id: "1" } }] });
      expect(await pages.next()).toMatchObject({ count: 1, cursor: null });
      await pages.cancel();
    }));

  it("continues while the index is rebuilt, and with the new one", () =>
    withPosts(async (db) => {
      await db.posts.create({ data: postOf("1", "the fox") });
      const pages = new Reports(db.posts.watchSearch({ query: "the fox", where }));
      expect(await pages.next()).toMatchObject({ count: 1, ignored: [] });
      const indexes = { byAuthor, search: { ...search, stopWords: ["the"] } } as const;
      const Changed = defineModel({ ...definition, indexes, live: true });
      const changed = await createDatabase({ kv, models: { posts: Changed, authors: Author } });
      expect((await migrate(changed)).status).toBe("done");
      await changed.posts.create({ data: postOf("2", "another fox") });
      const again = new Reports(changed.posts.watchSearch({ query: "the fox", where }));
      expect(await again.next()).toMatchObject({ count: 2, ignored: [{ text: "the" }] });
      await again.cancel();
      await pages.cancel();
    }));

  it("is begun by generated repositories, and by those of a view", () =>
    withPosts(async (db) => {
      await db.posts.create({ data: postOf("1", "fox") });
      const rows = rowsOf(db, "posts");
      const query = { query: "fox", where, index: "search" } as const;
      const pages = new Reports(rows.watchSearch(query));
      expect(await pages.next()).toEqual(await db.posts.search({ query: "fox", where }));
      expect(await rows.explainSearch(query)).toEqual(
        await db.posts.explainSearch({ query: "fox", where }),
      );
      await db.posts.create({ data: postOf("2", "fox fox") });
      expect(idsOf((await pages.next()) as never)).toEqual(["2", "1"]);
      await pages.cancel();
    }));

  it("watches nothing any more when it is cancelled or fails", async () => {
    const counted = countingWatches(await openKv());
    try {
      const db = await open(counted.kv);
      const pages = new Reports(db.posts.watchSearch({ query: "fox", where }));
      const limited = new Reports(db.posts.watchSearch({ query: "fox", where, maxReads: 1 }));
      await Promise.all([pages.next(), limited.next()]);
      expect(counted.open).toBe(2);
      await db.posts.create({ data: postOf("1", "fox") });
      await pages.next();
      await expect(limited.next()).rejects.toMatchObject({ code: "KW_READ_LIMIT" });
      const waiting = pages.next();
      await pages.cancel();
      expect(await waiting).toBe("the end");
      expect(counted.open).toBe(0);
    } finally {
      await counted.kv.close();
    }
  });

  it("is refused within a transaction, in a snapshot, and where no index serves it", () =>
    withPosts(async (db) => {
      const begin = (on: unknown, options: object) => async () =>
        (on as Db).posts.watchSearch(options as never);
      await db.transaction(async (tx) => {
        await expect(begin(tx, { query: "fox", where })()).rejects.toMatchObject({
          code: "KW_ARGUMENT_INVALID",
          operation: "watch",
        });
      });
      await db.snapshot(async (view) => {
        await expect(begin(view, { query: "fox", where })()).rejects.toMatchObject({
          code: "KW_SNAPSHOT_READ_ONLY",
        });
      });
      const cases = [
        [{ query: "fox" }, "KW_QUERY_INVALID"],
        [{ query: "fox", where, index: "byTitle" }, "KW_INDEX_UNKNOWN"],
        [{ query: "fox", where, orderBy: {} }, "KW_ARGUMENT_INVALID"],
      ] as const;
      for (const [options, code] of cases)
        await expect(begin(db, options)()).rejects.toMatchObject({ code, operation: "watch" });
      const unreadable = new Reports(db.posts.watchSearch({ query: 5 as never, where }));
      await expect(unreadable.next()).rejects.toMatchObject({ code: "KW_QUERY_INVALID" });
    }));

  it("needs a model with live: true where ranges cannot be watched", async () => {
    const Quiet = defineModel({ ...definition, indexes: { byAuthor, search } });
    await using own = await openKv();
    const db = await createDatabase({ kv: denoKv(own), models: { posts: Quiet, authors: Author } });
    expect(() => db.posts.watchSearch({ query: "fox", where })).toThrow(/live: true/u);
  });
});
