/** The beginning of a program: databases and models, for the mistakes and what an editor shows. */
export const header = `
import type { Kv } from "@keywright/core";
import * as z from "zod";
import { belongsTo, createDatabase, type Database, defineModel } from "../src/index.js";
import type { blogModels } from "./blog-models.js";
import type { Db } from "./types-models.js";
declare const kv: Kv;
declare const db: Db;
declare const blog: Database<typeof blogModels>;
const base = {
  name: "people",
  schema: z.object({
    id: z.string(),
    bossId: z.string(),
    bossName: z.string().default(""),
    home: z.object({ street: z.string() }),
  }),
  primaryKey: "id",
} as const;
const Lost = defineModel({ ...base, relations: { boss: belongsTo("bosses", "bossId") } });
const Unfit = defineModel({ ...base, relations: { boss: belongsTo("people", "home") } });
const Copying = defineModel({
  ...base,
  relations: { boss: belongsTo("people", "bossId", { copy: { bossName: "id" } }) },
});
declare const copies: Database<{ people: typeof Copying }>;
`;

/** One mistake for each type error, and the most common others, by what is wrong. */
export const mistakes: Readonly<Record<string, string>> = {
  "NoIndexServes: a field that no index begins with":
    'db.games.findMany({ where: { note: "x" } });',
  "NoIndexServes: an order that no index has":
    'db.games.findMany({ where: { team: "red" }, orderBy: { rank: "asc" } });',
  "NoIndexServes: a condition in include that no index serves":
    'db.users.findUnique({ where: { id: "x" }, include: { posts: { where: { title: "x" } } } });',
  "ReadsWholeTable: a query without conditions": "db.games.findMany({});",
  "NamesNoRow: fields that several rows can share":
    'db.games.findUnique({ where: { team: "red" } });',
  "NoCondition: a condition without bounds": "db.games.findMany({ where: { team: {} } });",
  "NoAggregateServes: a sum that nothing maintains":
    "db.games.aggregate({ sum: { score: true } });",
  "NotRanked: a rank in an index without ranks":
    'db.games.rank({ where: { id: "x" }, index: "byTeamAndScore" });',
  "NotRanked: skip in a model without ranks":
    'db.games.findMany({ where: { team: "red" }, skip: 1 });',
  "UnknownField: in where": 'db.games.findMany({ where: { nope: "x" } });',
  "UnknownField: in orderBy": 'db.games.findMany({ orderBy: { nope: "asc" } });',
  "UnknownField: in select": 'db.users.findUnique({ where: { id: "x" }, select: { nope: true } });',
  "UnknownField: in the select of a relation":
    'db.users.findUnique({ where: { id: "x" }, include: { posts: { select: { nope: true } } } });',
  "UnknownOption: limit instead of take":
    'db.games.findMany({ where: { team: "red" }, limit: 3 });',
  "UnknownOption: offset instead of skip":
    'db.games.findMany({ where: { team: "red" }, offset: 3 });',
  "UnknownOption: sort instead of orderBy": 'db.games.scan({ sort: { id: "asc" } });',
  "UnknownOption: ttl instead of expireIn":
    'db.teams.create({ data: { id: "", title: "" }, ttl: 1 });',
  "UnknownOption: a misspelled one": 'db.games.findMany({ wher: { team: "red" } });',
  "UnknownOption: one of another method": 'db.games.count({ where: { team: "red" }, take: 3 });',
  "UnknownOption: limit in a relation":
    'db.users.findUnique({ where: { id: "x" }, include: { posts: { limit: 3 } } });',
  "UnknownOption: is for a relation with many rows":
    "db.users.findMany({ where: { posts: { is: {} } } });",
  "CannotWriteNested: set of references that cannot be empty":
    'blog.users.update({ where: { id: "x" }, data: { posts: { set: [] } } });',
  "UnknownRelation: in include":
    'db.users.findUnique({ where: { id: "x" }, include: { post: true } });',
  "UnknownRelation: in the include of a relation":
    'db.posts.findUnique({ where: { id: "x" }, include: { author: { include: { nope: true } } } });',
  "UnknownRelation: in _count":
    'db.users.findUnique({ where: { id: "x" }, include: { _count: { team: true } } });',
  "UnknownRelation: of a model without relations":
    'db.teams.findUnique({ where: { id: "x" }, include: { users: true } });',
  "IndexCannotBe: an index of objects":
    'defineModel({ ...base, indexes: { byHome: { key: "home" } } });',
  "CannotHold: a reference that cannot hold the primary key":
    "createDatabase({ kv, models: { people: Unfit } });",
  "CannotMark: softDelete without a date": 'defineModel({ ...base, softDelete: "home" });',
  "NoSoftDelete: restore without softDelete": 'db.games.restore({ where: { id: "x" } });',
  "NoSoftDelete: withDeleted without softDelete":
    'db.games.findMany({ where: { id: "x" }, withDeleted: true });',
  "NotScopable: a field that no model has": 'db.scope({ nope: "x" });',
  "LeadsNowhere: a relation to an absent model":
    "createDatabase({ kv, models: { people: Lost } });",
  "CannotCompute: a computed field with the name of a field":
    "defineModel({ ...base, computed: { id: (row) => row.bossId } });",
  "NotStored: a copied field in data":
    'copies.people.update({ where: { id: "x" }, data: { bossName: "Ada" } });',
  "a missing field in create": 'db.games.create({ data: { id: "x", team: "red" } });',
  "a missing field in create, of a model with relations":
    'db.users.create({ data: { teamId: "x" } });',
  "a missing reference in create": 'blog.posts.create({ data: { id: "x", title: "" } });',
  "a missing field in a nested create":
    'blog.users.update({ where: { id: "x" }, data: { posts: { create: { id: "x" } } } });',
  "a missing field in createMany": 'db.users.createMany({ data: [{ teamId: "x" }] });',
  "an unknown field in create": 'db.users.create({ data: { name: "Ada", nope: 1 } });',
  "an unknown field in update": 'db.users.update({ where: { id: "x" }, data: { nope: 1 } });',
  "an unknown operation on related rows":
    'blog.users.update({ where: { id: "x" }, data: { posts: { creat: [] } } });',
  "a value of another type in create": "db.users.create({ data: { name: 1 } });",
  "a value of another type in update":
    'db.games.update({ where: { id: "x" }, data: { score: "1" } });',
  "a value of another type in where": "db.games.findMany({ where: { team: 1 } });",
  "a direction that does not exist": 'db.games.findMany({ orderBy: { team: "up" } });',
  "an index that does not exist": 'db.games.findMany({ index: "byNope" });',
  "no where": "db.users.findUnique({});",
};

/** Calls that are right, on whose methods an editor is asked. */
export const calls: readonly string[] = [
  'db.users.findUnique({ where: { id: "x" } });',
  'db.users.findMany({ where: { teamId: "x" }, include: { posts: true }, take: 2 });',
  'db.users.create({ data: { name: "Ada" } });',
  'db.users.update({ where: { id: "x" }, data: { name: "Ada" }, select: { name: true } });',
];
