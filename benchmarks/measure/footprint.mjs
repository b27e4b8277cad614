// What a library adds to a program: the time of its start, and the size of a bundle.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { median } from "../page/figures.mjs";

const program = fileURLToPath(new URL("start.mjs", import.meta.url));
const peers = fileURLToPath(new URL("../peers", import.meta.url));
const here = fileURLToPath(new URL("..", import.meta.url));
const starts = 15;

/** What a program with two tables imports. */
const imports = {
  "keywright-level": `
    import { openKv } from "@keywright/core";
    import { belongsTo, createDatabase, defineModel, hasMany } from "@keywright/orm";
    import { date, email, int, object, string } from "zod";
    console.log(openKv, belongsTo, createDatabase, defineModel, hasMany, date, email, int, object, string);`,
  "deno-kv": `import { openKv } from "@deno/kv"; console.log(openKv);`,
  "lmdb-by-hand": `import { open } from "lmdb"; console.log(open);`,
  drizzle: `
    import Sqlite from "better-sqlite3";
    import { drizzle } from "drizzle-orm/better-sqlite3";
    import { eq, relations } from "drizzle-orm";
    import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
    console.log(Sqlite, drizzle, eq, relations, index, integer, sqliteTable, text, uniqueIndex);`,
  kysely: `
    import Sqlite from "better-sqlite3";
    import { Kysely, SqliteDialect } from "kysely";
    console.log(Sqlite, Kysely, SqliteDialect);`,
  prisma: `
    import { PrismaClient } from "./generated/index.js";
    import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
    console.log(PrismaClient, PrismaBetterSqlite3);`,
  dexie: `import { Dexie } from "dexie"; console.log(Dexie);`,
};

/**
 * @returns by the name of the contender the milliseconds that a program takes to start, store a row,
 *   read it and end, without those of an empty program, and the bytes of a minified bundle, also
 *   compressed with gzip. Native addons are not part of a bundle.
 */
export async function measureFootprint(note) {
  note("bundles and starts");
  const figures = {};
  const times = await measureStarts([
    ...["keywright-memory", "keywright-lmdb", "keywright-sqlite", "keywright-level"],
    ...Object.keys(imports).filter((name) => name !== "keywright-level"),
  ]);
  for (const [name, milliseconds] of Object.entries(times)) {
    const text = imports[name];
    figures[name] = { milliseconds, ...(text === undefined ? {} : await bundle(name, text)) };
  }
  return figures;
}

async function measureStarts(names) {
  const folder = await mkdtemp(join(tmpdir(), "keywright-bench-"));
  const times = Object.fromEntries(names.map((name) => [name, []]));
  try {
    for (let round = 0; round < starts; round++) {
      const empty = timeOf(["--eval", "0"]);
      for (const name of names) {
        const fresh = await mkdtemp(join(folder, "start-"));
        times[name].push(timeOf([program, name, fresh]) - empty);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])]));
}

function timeOf(args) {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} failed:\n${stderr}`);
  return performance.now() - start;
}

async function bundle(name, contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: /^(keywright|deno|lmdb)/.test(name) ? here : peers },
    bundle: true,
    minify: true,
    write: false,
    platform: "node",
    format: "esm",
    logLevel: "error",
    loader: { ".node": "empty", ".wasm": "binary" },
    // Addons that another platform has.
    external: ["@deno/kv-*", "@msgpackr-extract/*", "@lmdb/*"],
  });
  const [{ contents: code }] = outputFiles;
  return { bytes: code.length, gzipBytes: gzipSync(code).length };
}
