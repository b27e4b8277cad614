import type { Db } from "./types-models.js";
declare const db: Db;
async function _f() {
  const a = await db.games.findMany({ where: { team: "red", score: { gte: 2 } }, filter: (g) => g.note === "" });
  const a1: string = a.items[0]!.team;
  await db.games.findMany({ where: { team: "red" }, orderBy: { score: "desc" }, take: 2 });
  await db.games.findMany({ where: { team: { in: ["red", "blue"] } }, orderBy: [{ team: "asc" }, { score: "asc" }, { id: "asc" }] });
  await db.games.findMany({ where: { level: "easy" }, orderBy: [{ playedAt: "asc" }, { round: "desc" }] });
  await db.games.findMany({ where: { tags: { has: { startsWith: "x" } } } });
  await db.games.findMany({ where: { round: 1n, marks: { has: new Date() } } });
  await db.games.findMany({ where: { byInitial: "x" } });
  await db.games.findMany({ where: { byWords: { has: "x" } } });
  await db.games.findMany({ index: "byOpen", where: { playedAt: { lt: new Date() } } });
  await db.games.findMany({ where: { team: "red", nick: "a", rank: { gte: 1 } } });
  const b = await db.users.findUnique({ where: { id: "x" }, include: { team: true, badge: { select: { color: true } }, posts: { filter: (p) => p.title === "", orderBy: { at: "desc" }, include: { tags: true } } } });
  if (b) { const t: string | undefined = b.team?.title; const c = b.badge?.color; const tt = b.posts[0]!.tags[0]!.id; }
  const c = await db.users.create({ data: { name: "" }, withVersionstamp: true, select: { id: true } });
  const v: { id: string } = c.row;
  await db.games.update({ where: { level: "easy", round: 1n }, data: { score: { increment: 1 } } });
  const m = await db.games.updateMany({ filter: () => true, data: { score: 1 }, atomic: true });
  m.results[0]!.row.id;
  await db.games.count();
  // bad ones
  await db.games.findMany({ where: { note: "red" } });
  await db.games.findMany({ where: { score: 1 } });
  await db.games.findMany({});
  await db.games.findMany({ where: { team: "red", nick: "a" } });
  await db.games.findMany({ where: { team: "red" }, orderBy: { rank: "asc" } });
  await db.games.findMany({ where: { team: 1 } });
  await db.games.findMany({ where: { team: "red", score: {} } });
  await db.games.findMany({ where: { team: undefined } });
  await db.games.findMany({ where: { playedAt: new Date() } });
  await db.games.findMany({ index: "byOpenn" });
  await db.games.findUnique({ where: { team: "red" } });
  await db.games.findUnique({ where: { id: "red", nick: "x" } });
  await db.games.findMany({ where: { team: "red" }, select: { nope: true } });
  await db.games.findMany({ where: { team: "red" }, takee: 1 });
  await db.users.findUnique({ where: { id: "x" }, include: { team: true, nope: true } });
  await db.users.findUnique({ where: { id: "x" }, include: { posts: { orderBy: { title: "asc" } } } });
  await db.users.findUnique({ where: { id: "x" }, include: { posts: { select: { nope: true } } } });
  await db.users.findUnique({ where: { id: "x" }, include: { team: { take: 1 } } });
  await db.users.create({ data: { name: "", nope: 1 } });
  await db.games.updateMany({ data: { score: 1 } });
  await db.games.update({ where: { id: "x" }, data: { id: "y" } });
}
import * as z from "zod";
import { defineModel, desc } from "../src/index.js";
const base = { name: "people", schema: z.object({ id: z.string(), nick: z.string().nullable(), home: z.object({street: z.string()}), tags: z.array(z.string()), tags2: z.array(z.string()).optional() }), primaryKey: "id" } as const;
defineModel({ ...base, indexes: {
  byNick: { key: "nick", normalize: (n) => n.toLowerCase(), where: (row) => row.id !== "" },
  byTags: { key: "tags", each: true, normalize: (n) => n.toLowerCase() },
  byTag2: { key: ["id", "tags"], each: true },
  byHome: { key: (row) => row.home.street },
  byHome2: { key: [(row) => row.home.street, desc("nick")] },
  byHome3: { key: (row) => row.tags, each: true, include: ["nick"] },
  byD: { key: desc("nick") },
} });
defineModel({ ...base, indexes: { good: { key: "nick", normalize: (n) => n.toLowerCase() }, bad: { key: "home" } } });
defineModel({ ...base, indexes: { bad: { key: "nope" } } });
defineModel({ ...base, indexes: { bad: { key: ["nick", "nope"] } } });
defineModel({ ...base, indexes: { bad: { key: "tags" } } });
defineModel({ ...base, indexes: { bad: { key: ["nick", "tags"] } } });
defineModel({ ...base, indexes: { bad: { key: desc("tags") } } });
defineModel({ ...base, indexes: { bad: { key: (row) => row.home } } });
defineModel({ ...base, indexes: { bad: { key: (row) => row.tags } } });
defineModel({ ...base, indexes: { bad: { key: "nick", each: true } } });
defineModel({ ...base, indexes: { bad: { key: "nick", uniqe: true } } });
defineModel({ ...base, indexes: { bad: { key: ["nick", "id"], normalize: (x: string) => x } } });
defineModel({ ...base, indexes: { bad: { key: "nick", include: ["nope"] } } });
defineModel({ ...base, indexes: { bad: { key: "nick", normalize: (n) => ({}) } } });
defineModel({ ...base, primaryKey: "nick" });
