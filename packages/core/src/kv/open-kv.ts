import { isOwnedFiles } from "../engine/files/owned-files.js";
import { DenoKv } from "./deno/deno-kv.js";
import { assertDenoPath } from "./deno/deno-path.js";
import type { EmbeddedKv } from "./embedded-kv.js";
import { defaultCacheBytes } from "./open/level/default-cache-bytes.js";
import {
  openDiskEngine,
  openFileEngine,
  openLevelEngine,
  openRemoteEngine,
} from "./open/open-engine.js";
import { type KvPlace, type Opener, type OpenKvOptions, openHandle } from "./open/open-handle.js";
import type { OpenEngineOptions } from "./open/open-options.js";
import { connectTo } from "./open/remote-address.js";
import { openGivenEngine, openMemoryEngine } from "./open/share-engine.js";
import { isEngine, isRemoteAddress } from "./open/where.js";

/**
 * Opens a database. Without `where`, or with `":memory:"`, it is in memory. A path is that of a
 * folder on disk, which is created if it is absent. A URL is that of a server of
 * `@keywright/server`. `unix:` and a path is a folder that another process has open. `where` can
 * also be an engine, such as one of `@keywright/postgres` or `@keywright/sqlite`, a file of
 * `@keywright/lmdb`, or an abstract-level database.
 *
 * Opening the same path or engine again in one process shares the database. It is closed with its
 * last handle, and so is an abstract-level database of the caller.
 *
 * ```ts
 * const kv = await openKv("./data");
 * await kv.set(["users", "ada"], { name: "Ada" });
 * ```
 *
 * @throws {InvalidOptionError} if an option is not valid.
 * @throws {DatabasePathError} if the path is a file, or a folder with other files.
 * @throws {DatabaseNotFoundError} if there is no database and none may be created.
 * @throws {DatabaseLockedError} if another process has the folder open and cannot be attached to.
 * @throws {DatabaseFormatError} if the data there is not Keywright's, or has a later format.
 * @throws {EngineUnavailableError} if the server at a URL cannot be reached.
 * @throws {DatabaseModeError} if the database was created with the other `compat`.
 * @throws {CorruptionError} if the database is damaged.
 * @throws {LogUnsupportedError} if the option `log` needs an engine that cannot keep a log, or if
 * another process owns the database and has to be given the option.
 * @throws {RestoreUnfinishedError} if a restore into the database has not finished.
 * @throws {MoveUnfinishedError} if a move into the database has not finished.
 * @throws {DatabaseMovedError} if the database was moved to another place.
 */
export async function openKv(
  where: KvPlace = ":memory:",
  options: OpenKvOptions = {},
): Promise<EmbeddedKv> {
  return await openKvFor("use", where, options);
}

/** Opens a database as `openKv` does. For a restore, one whose restore has not finished too. */
export async function openKvFor(
  purpose: "use" | "restore",
  where: KvPlace,
  options: OpenKvOptions,
): Promise<EmbeddedKv> {
  return await openHandle(opener, purpose, where, options);
}

const opener: Opener = {
  defaultCacheBytes: () => defaultCacheBytes(),
  openEngine,
  denoRules: () => ({
    assertPath: assertDenoPath,
    open: (shared, options) => new DenoKv(shared, options),
  }),
};

function openEngine(where: KvPlace, options: OpenEngineOptions, token: string | undefined) {
  if (isOwnedFiles(where)) return openFileEngine(where, options);
  if (isEngine(where)) return openGivenEngine(where, options);
  if (typeof where !== "string") return openLevelEngine(where, options);
  if (isRemoteAddress(where)) return openRemoteEngine(connectTo(where, token), options);
  return where === ":memory:" ? openMemoryEngine(options) : openDiskEngine(where, options);
}
