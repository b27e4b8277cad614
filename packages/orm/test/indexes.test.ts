import { compareKeys, type KvKeyPart } from "@keywright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineModel } from "../src/index.js";
import { compileModel } from "../src/model/compile-model.js";
import { defaultIndexPrefix } from "../src/model/indexes/index-prefix.js";
import { type IndexEntry, indexChanges, indexEntries } from "../src/model/keys/index-entries.js";
import { isSameKey, keyPartOf, partAfter } from "../src/model/keys/key-parts.js";
import { LaterUser } from "./user-model.js";

const user = compileModel(LaterUser);
const ada = { id: "1", name: "Ada", email: "Ada@x.org", favoriteColor: "green", age: 36 };
const keysOf = (row: object) =>
  indexEntries(user, user.indexes, row as never, ["1"]).map(({ key }) => key);

describe("indexEntries", () => {
  it("gives a unique index the value alone, and others the primary key behind it", () => {
    expect(keysOf(ada)).toEqual([
      ["users_by_email", "ada@x.org"],
      ["users_by_favorite_color", "green", "1"],
      ["users_by_age", 36, "1"],
      ["users_by_name", "Ada"],
    ]);
  });

  it("leaves out what is absent", () => {
    expect(keysOf({ ...ada, age: undefined, name: null })).toEqual([
      ["users_by_email", "ada@x.org"],
      ["users_by_favorite_color", "green", "1"],
    ]);
  });

  it("refuses a value that no key part holds, naming index and field", () => {
    expect(() => keysOf({ ...ada, favoriteColor: { red: 1 } })).toThrow(
      expect.objectContaining({
        code: "KW_INDEX_KEY_INVALID",
        index: "byFavoriteColor",
        field: "favoriteColor",
        valueType: "object",
        id: "1",
      }),
    );
  });
});

describe("a function of an index that answers with a promise", () => {
  const schema = z.object({ id: z.string(), at: z.string(), tags: z.array(z.string()) });
  const later = async (value: unknown) => {
    if (value === "never") throw new Error("whose failure ends no process");
    return value;
  };
  it.each([
    ["where", { key: "at", where: later }],
    ["at", { key: "at", normalize: later }],
    ["byIt", { key: later }],
    ["byIt", { key: ({ tags }: { tags: unknown }) => later(tags), each: true }],
  ])("is refused, and takes in no row: %s", (field, byIt) => {
    const base = { name: "x", schema, primaryKey: "id" } as const;
    const model = compileModel(defineModel({ ...base, indexes: { byIt: byIt as never } }));
    const row = { id: "1", at: "never", tags: ["a"] };
    const refusal = { code: "KW_INDEX_KEY_INVALID", field, valueType: "promise", id: "1" };
    expect(() => indexEntries(model, model.indexes, row, ["1"])).toThrow(
      expect.objectContaining(refusal),
    );
  });
});

describe("indexChanges", () => {
  it("takes only what differs", () => {
    const entries = (row: object) => indexEntries(user, user.indexes, row as never, ["1"]);
    const { removed, added } = indexChanges(
      entries(ada),
      entries({ ...ada, email: "ADA@x.org", age: 37 }),
    );
    expect(removed.map(({ key }) => key)).toEqual([["users_by_age", 36, "1"]]);
    expect(added.map(({ key }) => key)).toEqual([["users_by_age", 37, "1"]]);
  });
});

describe("rows with many keys", () => {
  const Tagged = compileModel(
    defineModel({
      name: "tagged",
      schema: z.object({ id: z.string(), tags: z.array(z.string()), n: z.int().default(0) }),
      primaryKey: "id",
      indexes: {
        byTag: { key: "tags", each: true },
        byTagAndN: { key: ["tags", "n"], each: true, store: "copy" },
      },
    }) as never,
  );
  const tag = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.constantFrom(-0, Number.NaN, "", "a", "s1:a", "1,", true, false, "\ud800", 1n, -1n, null),
    fc.uint8Array({ maxLength: 2 }),
    fc.string({ maxLength: 2 }),
  );
  const entries = (tags: readonly unknown[], n: number) =>
    indexEntries(Tagged, Tagged.indexes, { id: "1", tags, n }, ["1"]);

  it("have the same entries and changes as if each were compared with each", () => {
    const row = fc.record({
      tags: fc.array(tag, { maxLength: 40 }),
      n: fc.integer({ min: 0, max: 1 }),
    });
    fc.assert(
      fc.property(row, row, (a, b) => {
        for (const { tags, n } of [a, b]) {
          const found = entries(tags, n);
          for (const one of found)
            expect(found.filter((other) => isSame(one, other))).toEqual([one]);
          for (const value of tags) {
            const part = keyPartOf(value);
            if (part === undefined) continue;
            expect(found.filter(({ key }) => isSameKey([key[1]!], [part]))).toHaveLength(2);
          }
        }
        const [before, after] = [entries(a.tags, a.n), entries(b.tags, b.n)];
        const isIn = (list: typeof before, entry: (typeof before)[number]) =>
          list.some((other) => isSame(other, entry));
        const { added, removed, rewritten } = indexChanges(before, after);
        expect(added).toEqual(after.filter((entry) => !isIn(before, entry)));
        expect(removed).toEqual(before.filter((entry) => !isIn(after, entry)));
        expect(rewritten).toEqual(
          after.filter((entry) => isIn(before, entry) && entry.index.store === "copy"),
        );
      }),
    );
  });

  it("take no longer for each than others", () => {
    const tags = Array.from({ length: 20_000 }, (_, i) => `tag${i}`);
    const [before, after] = [entries(tags, 0), entries([...tags, "new"], 0)];
    expect(indexChanges(before, after).added).toHaveLength(2);
  });
});

const isSame = (a: IndexEntry, b: IndexEntry) => a.index === b.index && isSameKey(a.key, b.key);

describe("key parts", () => {
  it("hold a date as milliseconds, and -0 as 0", () => {
    expect(keyPartOf(new Date(5))).toBe(5);
    expect(Object.is(keyPartOf(-0), 0)).toBe(true);
    for (const other of [null, undefined, {}, [], Symbol.iterator])
      expect(keyPartOf(other)).toBeUndefined();
  });

  it("have nothing of their type between them and the next", () => {
    const part = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.double(),
      fc.bigInt(),
      fc.boolean(),
      fc.uint8Array({ maxLength: 4 }),
      fc.constantFrom(
        0,
        -0,
        Number.MAX_VALUE,
        -Number.MAX_VALUE,
        -Number.MIN_VALUE,
        -Infinity,
        Infinity,
      ),
    );
    const compare = (a: KvKeyPart, b: KvKeyPart) => compareKeys([a], [b]);
    fc.assert(
      fc.property(part, part, (one, other) => {
        const next = partAfter(one);
        if (next === undefined) {
          if (typeof one === typeof other) expect(compare(other, one)).toBeLessThanOrEqual(0);
          return;
        }
        expect(typeof next).toBe(typeof one);
        expect(compare(next, one)).toBeGreaterThan(0);
        if (compare(other, one) > 0) expect(compare(other, next)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 2000 },
    );
  });
});

it("names prefixes as the guide does", () => {
  const names = ["byEmail", "byFavoriteColor", "byHTTPStatus", "by2FA", "open"];
  expect(names.map((name) => defaultIndexPrefix("users", name))).toEqual([
    "users_by_email",
    "users_by_favorite_color",
    "users_by_http_status",
    "users_by2_fa",
    "users_open",
  ]);
});
