import { openKv } from "@keywright/core";
import { lmdbEngine } from "@keywright/lmdb";

/** Opens the database at a path: an LMDB file if its name ends in `.mdb`, or a LevelDB folder. */
export async function openDatabase(path, options) {
  return await openKv(path.endsWith(".mdb") ? await lmdbEngine({ path }) : path, options);
}
