import { openDenoKv } from "./deno-kv.mjs";
import { openDexie } from "./dexie.mjs";
import { openDrizzle } from "./drizzle.mjs";
import { engines, openKeywright } from "./keywright.mjs";
import { openKysely } from "./kysely.mjs";
import { openLmdbByHand } from "./lmdb-by-hand.mjs";
import { openPrisma } from "./prisma.mjs";
import { openRawLevel } from "./raw-level.mjs";

const keywright = Object.entries(engines).map(([engine, { title, durability, isHeavy, open }]) => ({
  name: `keywright-${engine}`,
  title: `Keywright, ${title}`,
  kind: "keywright",
  durability,
  isHeavy,
  open: (path) => openKeywright(open, path),
}));

/**
 * What is measured. `durability` says which failure an acknowledged write survives: `none`, a killed
 * process (`relaxed`) or a power cut (`full`). A contender whose `kind` is `limit` does less than the
 * others. `isHeavy` means that its packages are in the folder `peers`.
 */
export const contenders = [
  ...keywright,
  limit("raw-level", "classic-level alone, `sync`", "full", (path) => openRawLevel(path, true)),
  limit("raw-level-relaxed", "classic-level alone", "relaxed", (path) => openRawLevel(path, false)),
  other("deno-kv", "`@deno/kv`, by hand", "full", openDenoKv),
  other("lmdb-by-hand", "`lmdb`, by hand", "full", (path) => openLmdbByHand(path, "full")),
  other(
    "lmdb-by-hand-relaxed",
    "`lmdb`, by hand, not awaited until it is on disk",
    "relaxed",
    (path) => openLmdbByHand(path, "relaxed"),
  ),
  ...heavyOnSqlite("drizzle", "Drizzle, built", (path, durability) =>
    openDrizzle(path, durability, "built"),
  ),
  ...heavyOnSqlite("drizzle-prepared", "Drizzle, prepared", (path, durability) =>
    openDrizzle(path, durability, "prepared"),
  ),
  ...heavyOnSqlite("kysely", "Kysely", openKysely),
  ...heavyOnSqlite("prisma", "Prisma", openPrisma),
  { ...other("dexie", "Dexie on fake-indexeddb", "none", openDexie), isHeavy: true },
];

function limit(name, title, durability, open) {
  return { name, title, kind: "limit", durability, open };
}

function other(name, title, durability, open) {
  return { name, title, kind: "peer", durability, open };
}

function heavyOnSqlite(name, title, open) {
  return ["full", "relaxed"].map((durability) => ({
    ...other(
      durability === "full" ? name : `${name}-relaxed`,
      `${title}, SQLite with \`synchronous = ${durability === "full" ? "FULL" : "NORMAL"}\``,
      durability,
      (path) => open(path, durability),
    ),
    isHeavy: true,
  }));
}
