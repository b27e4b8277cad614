import { openKv } from "@keywright/core";
import { lmdbEngine } from "@keywright/lmdb";
import { sqliteEngine } from "@keywright/sqlite";

/**
 * Opens the database at a path: an LMDB file if its name ends in `.mdb`, an SQLite file if it ends
 * in `.sqlite`, and otherwise a LevelDB folder.
 */
export async function openDatabase(path, options) {
  return await openKv(await whereOf(path), options);
}

async function whereOf(path) {
  if (path.endsWith(".mdb")) return await lmdbEngine({ path });
  return path.endsWith(".sqlite") ? await sqliteEngine({ path }) : path;
}
