// Related rows of many rows are read in one pass over the keys of an index. The entries between
// those of the rows are skipped.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Kv, type KvPages, openKv } from "@keywright/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";
import { countingKv } from "./counting-kv.js";

const models = {
  users: defineModel({
    name: "users",
    schema: z.object({ id: z.int(), group: z.int() }),
    primaryKey: "id",
    indexes: { byGroup: { key: "group" } },
    relations: { posts: hasMany("posts", "userId") },
  }),
  posts: defineModel({
    name: "posts",
    schema: z.object({ id: z.int(), userId: z.int(), kind: z.int() }),
    primaryKey: "id",
    indexes: { byUser: { key: "userId" }, byKind: { key: ["kind", "userId"] } },
    relations: { user: belongsTo("users", "userId") },
  }),
};

/** A database whose users have these numbers of posts, and are in one of three groups. */
async function filled(kv: Parameters<typeof createDatabase>[0]["kv"], sizes: readonly number[]) {
  const reads: number[] = [];
  const onQuery = (event: { readonly reads: number }) => reads.push(event.reads);
  const db = await createDatabase({ kv, models, onQuery });
  const users = sizes.map((_, id) => ({ id, group: id % 3 }));
  const posts = sizes
    .flatMap((size, userId) => Array.from({ length: size }, (_, n) => ({ userId, kind: n % 4 })))
    .map((post, i) => ({ ...post, id: (i * 7919) % 100_003 }));
  await db.users.createMany({ data: users });
  if (posts.length > 0) await db.posts.createMany({ data: posts });
  const postsOf = (id: number) =>
    posts.filter(({ userId }) => userId === id).sort((a, b) => a.id - b.id);
  return { db, users, postsOf, ofLast: () => reads.at(-1) };
}

const sizes = fc.array(fc.oneof(fc.constant(0), fc.nat(6), fc.nat(60)), {
  minLength: 1,
  maxLength: 40,
});

it("the rows of each row are those of a plain array, whatever lies between them", async () => {
  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.record({
        isPart: fc.boolean(),
        direction: fc.constantFrom("asc", "desc"),
        take: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
        isFiltered: fc.boolean(),
        isOfKind: fc.boolean(),
      }),
      async (numbers, { isPart, direction, take, isFiltered, isOfKind }) => {
        await using kv = await openKv();
        const { db, users, postsOf, ofLast } = await filled(kv, numbers);
        const query = { orderBy: { id: direction }, ...(isPart && { where: { group: 1 } }) };
        const where = isOfKind ? { kind: 1 } : {};
        const filter = ({ id }: { readonly id: number }) => !isFiltered || id % 2 === 0;
        const include = { posts: { where, take, filter }, _count: { posts: { where } } } as const;
        const { items } = await db.users.findMany({ ...query, include });
        const reads = ofLast();
        const wanted = users.filter(({ group }) => !isPart || group === 1);
        if (direction === "desc") wanted.reverse();
        const matching = (id: number) => postsOf(id).filter(({ kind }) => !isOfKind || kind === 1);
        expect(items).toEqual(
          wanted.map((user) => ({
            ...user,
            posts: matching(user.id).filter(filter).slice(0, take),
            _count: { posts: matching(user.id).length },
          })),
        );
        // What is skipped is not counted, so the same query needs about as many reads of its own.
        // Where the pass ended, it may have read fewer than the 16 entries and rows of a read with
        // a filter.
        const limited = await db.users.findMany({ ...query, include, maxReads: reads! + 32 });
        expect(limited.items).toEqual(items);
        for (const condition of ["some", "none"] as const) {
          const { items: found } = await db.users.findMany({
            where: { posts: condition === "some" ? { some: where } : { none: where } },
            orderBy: { id: direction },
          });
          const isFound = ({ id }: { readonly id: number }) =>
            matching(id).length > 0 === (condition === "some");
          const ids = users.filter(isFound).map(({ id }) => id);
          expect(found.map(({ id }) => id)).toEqual(direction === "desc" ? ids.reverse() : ids);
        }
      },
    ),
    { numRuns: 40 },
  );
});

it("many rows take few reads, whatever lies between them", async () => {
  await using kv = await openKv();
  const counting = countingKv(kv);
  const { db } = await filled(
    counting.kv,
    Array.from({ length: 60 }, () => 10),
  );
  const { calls } = counting;
  const listsOf = async (read: () => Promise<unknown>): Promise<number> => {
    calls.list = 0;
    await read();
    return calls.list;
  };
  const include = { posts: true } as const;
  const where = { id: { lt: 40 } };
  expect(await listsOf(() => db.users.findMany({ where, include }))).toBeLessThanOrEqual(3);
  // Between the posts of two of these users are those of two others.
  const apart = { where: { group: 1 }, include } as const;
  expect(await listsOf(() => db.users.findMany(apart))).toBeLessThanOrEqual(3);
  const counted = { where: { group: 1 }, include: { _count: { posts: true } } } as const;
  expect(await listsOf(() => db.users.findMany(counted))).toBeLessThanOrEqual(2);
  const none = { where: { posts: { none: { kind: 3 } } }, orderBy: { id: "asc" } } as const;
  expect(await listsOf(() => db.users.findMany(none))).toBeLessThanOrEqual(3);
});

it.each([undefined, "deno"] as const)(
  "rows are those of their own key, whatever keys lie beside it, in the mode %s",
  async (compat) => {
    await using kv = await openKv(":memory:", compat && { compat });
    const text = defineModel({
      name: "texts",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
      relations: { notes: hasMany("notes", "textId") },
    });
    const note = defineModel({
      name: "notes",
      schema: z.object({ id: z.string(), textId: z.string() }),
      primaryKey: "id",
      indexes: { byText: { key: "textId" } },
      relations: { text: belongsTo("texts", "textId") },
    });
    const db = await createDatabase({ kv, models: { texts: text, notes: note } });
    const ids = ["", "\0", "a", "a\0", "a\0b", "ab", "b"];
    await db.texts.createMany({ data: ids.map((id) => ({ id })) });
    const notes = ids.flatMap((textId) =>
      ["", "\0", "n"].map((n) => ({ id: `${n}${textId}-${n}`, textId })),
    );
    await db.notes.createMany({ data: notes });
    // Entries that lead to rows of another text or to none, and keys that are not of the index.
    await kv.set(["notes_by_text", "a", "b-"], "b-");
    await kv.set(["notes_by_text", "a", "none"], "none");
    await kv.set(["notes_by_text", "a"], "b-");
    await kv.set(["notes_by_text", "a", "a-", "more"], "a-");
    for (const direction of ["asc", "desc"] as const) {
      for (const left of [[], ["a"], ["a\0", "b"], ids.slice(1)]) {
        const { items } = await db.texts.findMany({
          orderBy: { id: direction },
          filter: ({ id }) => !left.includes(id),
          include: { notes: true },
        });
        const wanted = ids.filter((id) => !left.includes(id));
        if (direction === "desc") wanted.reverse();
        expect(items.map(({ id }) => id)).toEqual(wanted);
        for (const { id, notes: found } of items) {
          const own = notes.filter(({ textId }) => textId === id).map((row) => row.id);
          expect(found.map((row) => row.id)).toEqual(own.sort());
        }
      }
    }
  },
);

it("few of many related rows are in memory at a time", async () => {
  await using kv = await openKv();
  const holding = holdingKv(kv);
  const { db, postsOf } = await filled(holding.kv, [1500, 0, 0, 1500]);
  const where = { group: 0 };
  const counted = await db.users.findMany({ where, include: { _count: { posts: true } } });
  expect(counted.items.map(({ _count }) => _count.posts)).toEqual([1500, 1500]);
  expect(holding.maxHeld()).toBeGreaterThan(0);
  expect(holding.maxHeld()).toBeLessThan(2000);
  const last = postsOf(3).at(-1)!;
  const filter = ({ id }: { readonly id: number }) => id === last.id;
  const { items } = await db.users.findMany({ where, include: { posts: { filter } } });
  expect(items.map(({ posts }) => posts)).toEqual([[], [last]]);
  expect(holding.maxHeld()).toBeLessThan(2000);
  expect(holding.maxKeys()).toBeGreaterThan(0);
  expect(holding.maxKeys()).toBeLessThanOrEqual(1000);
});

/** A database that knows how many of the entries that were listed are still in memory. */
function holdingKv(kv: Kv) {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  let listed: WeakRef<object>[] = [];
  let [maxHeld, maxKeys] = [0, 0];
  const observed = <Reads extends object>(reads: Reads): Reads =>
    new Proxy(reads, {
      get(target, property) {
        const member: unknown = Reflect.get(target, property, target);
        if (property === "pages") return observedPages(member as KvPages);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) => {
          if (property === "getMany") maxKeys = Math.max(maxKeys, (given[0] as unknown[]).length);
          const result: unknown = member.apply(target, given);
          if (property === "openView" || property === "list") return observed(result as object);
          return property === "nextBatch" ? remembered(result as Promise<object[]>) : result;
        };
      },
    });
  const observedPages = (pages: KvPages): KvPages => ({
    listsAtOnce: false,
    list: (selector, options) => remembered(pages.list(selector, options)),
    listEach: async (prefixes, options) => {
      const lists = await pages.listEach(prefixes, options);
      await remembered(lists.flat());
      return lists;
    },
    countEach: (prefixes, keyLength) => pages.countEach(prefixes, keyLength),
    getLinked: (entries, prefix, from) => {
      maxKeys = Math.max(maxKeys, entries.length);
      return pages.getLinked(entries, prefix, from);
    },
  });
  const remembered = async <Entry extends object>(
    batch: Entry[] | Promise<Entry[]>,
  ): Promise<Entry[]> => {
    const entries = await batch;
    // Objects that a task has used stay in memory until its end.
    await new Promise(setImmediate);
    collectGarbage();
    listed = listed.filter((entry) => entry.deref() !== undefined);
    listed.push(...entries.map((entry) => new WeakRef(entry)));
    maxHeld = Math.max(maxHeld, listed.length);
    return entries;
  };
  return { kv: observed(kv), maxHeld: () => maxHeld, maxKeys: () => maxKeys };
}

it("a transaction reads no entries between those of the rows", async () => {
  await using kv = await openKv();
  const { db, postsOf } = await filled(kv, [3, 3, 3, 3, 3, 3]);
  const before = postsOf(1).map(({ id }) => id);
  let attempts = 0;
  const body = async (tx: Parameters<Parameters<typeof db.transaction>[0]>[0]) => {
    attempts++;
    const apart = { where: { group: 0 }, include: { posts: true } } as const;
    const { items } = await tx.users.findMany(apart);
    // Others change the posts of a user between the two users of the group.
    if (attempts === 1) await db.posts.deleteMany({ where: { userId: 1 } });
    await tx.users.create({ data: { id: 100 + items.length, group: 2 } });
  };
  await db.transaction(body, { allowOutsideWrites: true });
  expect(before).toHaveLength(3);
  expect(attempts).toBe(1);
  expect(await db.users.findUnique({ where: { id: 102 } })).not.toBeNull();
});
