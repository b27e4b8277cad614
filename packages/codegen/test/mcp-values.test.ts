import { KvU64 } from "@keywright/core";
import { defineModel, hasMany } from "@keywright/orm";
import { compileModel } from "@keywright/orm/codegen";
import { expect, it } from "vitest";
import * as z from "zod";
import type { OpenDatabase, OpenModel } from "../src/mcp/source/open-database.js";
import { jsonOf } from "../src/mcp/values/json-of.js";
import { dataOf, queryOf, uniqueOf, updateOf } from "../src/mcp/values/query-of.js";

const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.bigint(),
    name: z.string(),
    born: z.date().optional(),
    seen: z.array(z.date()).default([]),
    avatar: z.instanceof(Uint8Array).optional(),
    visits: z.int().default(0),
    settings: z.object({ set: z.date() }).optional(),
    extra: z.json().optional(),
    trips: z.array(z.object({ begin: z.date(), days: z.int() })).default([]),
    joined: z.iso
      .datetime()
      .pipe(z.transform((text) => new Date(text)))
      .optional(),
  }),
  primaryKey: "id",
  indexes: { byBorn: { key: "born" }, bySeen: { key: "seen", each: true } },
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.bigint(), at: z.date() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: ["authorId", "at"] } },
});
const users: OpenModel = { property: "users", model: compileModel(User) };
const posts: OpenModel = { property: "posts", model: compileModel(Post) };
const open = { models: [users, posts] } as unknown as OpenDatabase;

const day = "2026-01-31";
const date = new Date(day);

it("gives conditions the types of their fields, also in OR and of related rows", () => {
  const whereOf = (where: object) => queryOf(open, users, { model: "users", where });
  expect(whereOf({ id: 12 })).toEqual({ where: { id: 12n } });
  expect(whereOf({ id: { in: ["1", { $: "2n" }] } })).toEqual({ where: { id: { in: [1n, 2n] } } });
  expect(whereOf({ born: { gte: day, lt: `${day}T10:00:00Z` } })).toEqual({
    where: { born: { gte: date, lt: new Date(`${day}T10:00:00Z`) } },
  });
  expect(whereOf({ born: { between: [day, day] }, name: day })).toEqual({
    where: { born: { between: [date, date] }, name: day },
  });
  expect(whereOf({ seen: { has: day } })).toEqual({ where: { seen: { has: date } } });
  expect(whereOf({ OR: [{ born: day }, { born: null }] })).toEqual({
    where: { OR: [{ born: date }, { born: null }] },
  });
  expect(whereOf({ posts: { some: { at: { gt: day }, authorId: "1" } } })).toEqual({
    where: { posts: { some: { at: { gt: date }, authorId: 1n } } },
  });
  expect(uniqueOf(users, { id: "7" })).toEqual({ id: 7n });
});

it("gives data the types of its fields, also within objects and operations", () => {
  const data = {
    id: "9007199254740993",
    born: day,
    seen: [day],
    avatar: { $: "b64:AQID" },
    trips: [{ begin: day, days: 2 }],
    joined: `${day}T10:00:00Z`,
  };
  expect(dataOf(users, data)).toEqual({
    id: 9007199254740993n,
    born: date,
    seen: [date],
    avatar: new Uint8Array([1, 2, 3]),
    trips: [{ begin: date, days: 2 }],
    joined: `${day}T10:00:00Z`,
  });
  expect(
    updateOf(users, {
      ...{ born: { set: day }, id: { increment: "1" }, name: { unset: true } },
      ...{ seen: { push: day }, visits: { increment: 2 } },
    }),
  ).toEqual({
    ...{ born: { set: date }, id: { increment: 1n }, name: { unset: true } },
    ...{ seen: { push: date }, visits: { increment: 2 } },
  });
});

it("takes { set } for a value in create, and for an operation in update", () => {
  const json = { set: day };
  // The object is the value: its field is a date.
  expect(dataOf(users, { settings: json, extra: json })).toEqual({
    settings: { set: date },
    extra: json,
  });
  // Its operand is the value. To store such an object, set it.
  expect(updateOf(users, { settings: { set: json }, extra: { set: json } })).toEqual({
    settings: { set: { set: date } },
    extra: { set: json },
  });
  expect(updateOf(users, { extra: { set: 1, other: 2 }, settings: { push: 1 } })).toEqual({
    extra: { set: 1, other: 2 },
    settings: { push: 1 },
  });
});

it("refuses an object that represents no value, and leaves texts that are no dates", () => {
  expect(() => dataOf(users, { name: { $: "date:never" } })).toThrow("represents no value");
  expect(dataOf(users, { born: "soon", id: "one" })).toEqual({ born: "soon", id: "one" });
});

it("knows no field or relation of a name that objects inherit", () => {
  for (const name of ["constructor", "toString", "hasOwnProperty"]) {
    expect(queryOf(open, users, { model: "users", where: { [name]: { some: 1 } } })).toEqual({
      where: { [name]: { some: 1 } },
    });
    expect(uniqueOf(users, { [name]: 1 })).toEqual({ [name]: 1 });
    expect(dataOf(users, { [name]: 1, trips: [{ [name]: day }] })).toEqual({
      [name]: 1,
      trips: [{ [name]: day }],
    });
  }
});

it("returns JSON that shows each value", () => {
  const ring: { self?: unknown } = {};
  ring.self = ring;
  const row = {
    ...{ id: 1n, at: date, bytes: new Uint8Array([1, 2, 3]), count: new KvU64(3n) },
    ...{ tags: new Set(["a"]), names: new Map([["a", 1n]]), none: undefined, ring },
    ...{ infinite: Number.POSITIVE_INFINITY, pattern: /a/g },
  };
  expect(JSON.parse(JSON.stringify(jsonOf(row)))).toEqual({
    ...{ id: { $: "1n" }, at: `${day}T00:00:00.000Z`, bytes: { $: "b64:AQID" } },
    ...{ count: { $: "u64:3" }, tags: ["a"], names: [["a", { $: "1n" }]], ring: { self: "…" } },
    ...{ infinite: { $: "Infinity" }, pattern: "/a/g" },
  });
});
