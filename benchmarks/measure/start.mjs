// A program that opens a new database, stores a row and reads it: `start.mjs <contender> <folder>`.
// It loads only what this contender needs.
import { join } from "node:path";
import { userOf } from "../rows.mjs";

const keywright = async (engine) => {
  const { engines, openKeywright } = await import("../contenders/keywright.mjs");
  return (path) => openKeywright(engines[engine].open, path);
};
const programs = {
  "keywright-memory": () => keywright("memory"),
  "keywright-level": () => keywright("level"),
  "keywright-lmdb": () => keywright("lmdb"),
  "keywright-sqlite": () => keywright("sqlite"),
  "deno-kv": async () => (await import("../contenders/deno-kv.mjs")).openDenoKv,
  "lmdb-by-hand": async () => (await import("../contenders/lmdb-by-hand.mjs")).openLmdbByHand,
  drizzle: async () => (await import("../contenders/drizzle.mjs")).openDrizzle,
  kysely: async () => (await import("../contenders/kysely.mjs")).openKysely,
  prisma: async () => (await import("../contenders/prisma.mjs")).openPrisma,
  dexie: async () => (await import("../contenders/dexie.mjs")).openDexie,
};

const [name, folder] = process.argv.slice(2);
const open = await programs[name]();
const store = await open(join(folder, name), "full", "built");
const user = userOf(0, 1);
await store.create(user);
if ((await store.byId(user.id))?.id !== user.id) throw new Error("The user is not there.");
await store.close();
