import { openKv } from "@keywright/core";

/**
 * Opens a database.
 *
 * @param where a path: of an LMDB file if its name ends in `.mdb`, of an SQLite file if it ends in
 * `.sqlite`, and otherwise of a LevelDB folder. Or `{ etcd }` or `{ postgres }` with the options of
 * the engine.
 */
export async function openDatabase(where, options) {
  return await openKv(await placeOf(where), options);
}

/** Returns the place for `openKv`, with an engine that is new if it needs one. */
export async function placeOf(where) {
  if (where.etcd !== undefined)
    return await (await import("@keywright/etcd")).etcdEngine(where.etcd);
  if (where.postgres !== undefined)
    return await (await import("@keywright/postgres")).postgresEngine(where.postgres);
  if (where.endsWith(".mdb"))
    return await (await import("@keywright/lmdb")).lmdbEngine({ path: where });
  if (where.endsWith(".sqlite"))
    return await (await import("@keywright/sqlite")).sqliteEngine({ path: where });
  return where;
}
