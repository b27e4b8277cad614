import type { Engine } from "../../engine/engine.js";
import { isOwnedFiles, type OwnedFiles } from "../../engine/files/owned-files.js";
import type { FileCheckOptions } from "../../engine/level/files/file-checker.js";
import type { LevelDatabase } from "../../engine/level/level-engine.js";
import { isCreationAllowed } from "../../engine/process-settings.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { specificationOrder } from "../../keys/key-order.js";
import { denoLimits } from "../deno/deno-limits.js";
import { EmbeddedKv, type EmbeddedKvOptions } from "../embedded-kv.js";
import { assertLimits, defaultLimits, type KvLimits, limitsWith } from "../limits.js";
import { keepLog } from "../log/keep-log.js";
import { type LogOptions, logSettings } from "../log/log-options.js";
import type { AttachOptions, OpenEngineOptions } from "./open-options.js";
import type { SharedEngine } from "./shared-engine.js";
import { foreignUrlReason, isEngine, isRemoteAddress, whereReason } from "./where.js";

/** Options of `openKv`. */
export interface OpenKvOptions {
  /**
   * The failure that an acknowledged commit survives: a power cut with `"full"` (the default), a
   * killed process with `"relaxed"`. Applies to the commits of this handle.
   */
  durability?: "full" | "relaxed" | undefined;
  /**
   * Makes the order of key parts, the limits, the cursors and the texts of errors those of Deno KV,
   * byte for byte. A database stores how it was created, and cannot be opened the other way.
   */
  compat?: "deno" | undefined;
  /** Limits that replace the defaults. They apply to this handle. */
  limits?: Partial<KvLimits> | undefined;
  /**
   * Refuses writes and creates no database. LevelDB may still compact its own files on disk. If
   * nothing can be written there, as on a read-only file system, the database is opened without a
   * lock, and no other program may write to it at that time.
   */
  readOnly?: boolean | undefined;
  /** Creates a missing database on disk. The default is true. No effect if `readOnly` is true. */
  createIfMissing?: boolean | undefined;
  /**
   * The check of the files of a database on disk, which finds damage that LevelDB does not notice.
   * The default is true: the files are checked in the background and again once a day. False opens
   * a database without any check, to read what remains of damaged files. If the database is already
   * open in this process, its check does not change.
   */
  checkFiles?: boolean | FileCheckOptions | undefined;
  /**
   * The size in bytes of the cache in which LevelDB keeps blocks of its files uncompressed. The
   * default is 1/128 of the memory, but at least 8 MiB and at most 64 MiB. In Deno without the
   * permission `sys`, it is 8 MiB. A larger cache makes reads of a large database faster. If the
   * database is already open in this process, its cache does not change. No effect on databases
   * that are not in a folder.
   */
  cacheBytes?: number | undefined;
  /**
   * If another process has the folder or file open, this one uses the database through that
   * process, and `kv.attached` names it. Other processes can do the same with this one. The default
   * is true. With false, a folder can be opened by one process only. With `{ serve: false }`, this
   * process attaches to others, and no other can attach to it. With `{ takeOver: true }`, it
   * becomes the owner if the owner ends.
   */
  attach?: boolean | AttachOptions | undefined;
  /**
   * The access token for the URL of a server. The default is that of the variable `KEYWRIGHT_TOKEN`
   * or `DENO_KV_ACCESS_TOKEN` of the environment.
   */
  token?: string | undefined;
  /**
   * Keeps a log: each commit also stores what it has changed, and `kv.changes` reads it. The
   * database stores this option, so without it a database keeps its log as before. False ends the
   * log and removes it. A commit takes longer with a log, and the log needs about as much space as
   * what was written. Another process that is attached to this one cannot change the option.
   */
  log?: LogOptions | false | undefined;
  /**
   * Opens a database that `moveKv` has moved to another place, to read what is left here or to call
   * `undoMove`. Without it, such a database is refused, because what is read there
   * may be out of date. Commits are refused in both cases. The default is false.
   */
  allowMoved?: boolean | undefined;
}

/** Where a database is. See {@link openKv}. */
export type KvPlace = string | LevelDatabase | Engine | OwnedFiles;

/** The rules of Deno KV. */
export interface DenoRules {
  /** Refuses a path as `Deno.openKv` does. */
  assertPath(where: unknown, token: string | undefined): void;
  open(shared: SharedEngine, options: Omit<EmbeddedKvOptions, "order">): EmbeddedKv;
}

/** What opens databases: that of Node.js, or that of browsers. */
export interface Opener {
  /** The default of the option `cacheBytes`. */
  defaultCacheBytes(): number;
  /** Opens or shares an engine. It is acquired for the caller. */
  openEngine(
    where: KvPlace,
    options: OpenEngineOptions,
    token: string | undefined,
  ): Promise<SharedEngine>;
  denoRules(): DenoRules;
}

const optionNames: ReadonlySet<string> = new Set([
  "durability",
  "compat",
  "limits",
  "readOnly",
  "createIfMissing",
  "checkFiles",
  "cacheBytes",
  "attach",
  "token",
  "log",
  "allowMoved",
]);

/**
 * Opens a handle of a database. For a restore, also of one whose restore has not finished. Throws
 * as `openKv` does.
 */
export async function openHandle(
  opener: Opener,
  purpose: "use" | "restore",
  where: KvPlace,
  options: OpenKvOptions,
): Promise<EmbeddedKv> {
  const rules = options?.compat === "deno" ? opener.denoRules() : undefined;
  if (rules === undefined) assertWhere(where);
  else rules.assertPath(where, options.token);
  assertKnown(options);
  const { durability = "full", compat, limits = {}, readOnly = false } = options;
  const { createIfMissing = true, checkFiles = true, attach = true, token } = options;
  const { cacheBytes = opener.defaultCacheBytes(), log, allowMoved = false } = options;
  assertOneOf("durability", durability, ["full", "relaxed"]);
  assertOneOf("compat", compat, [undefined, "deno"]);
  assertOneOf("createIfMissing", createIfMissing, [true, false]);
  assertOneOf("allowMoved", allowMoved, [true, false]);
  assertLimits(limits);
  assertFileChecks(checkFiles);
  assertCacheBytes(cacheBytes);
  assertAttach(attach);
  if (log !== undefined && readOnly)
    throw new InvalidOptionError("log", "cannot be changed if readOnly is true", "openKv");
  const settings = log === undefined || log === false ? log : logSettings(log);
  const mode = compat === "deno" ? "deno" : "specification";
  const engineOptions: OpenEngineOptions = {
    mode,
    readOnly,
    createIfMissing: createIfMissing && !readOnly && isCreationAllowed(),
    checkFiles: checkFiles === true ? {} : checkFiles,
    cacheBytes,
    attach: attach === true ? {} : attach,
    isRestoring: purpose === "restore",
    allowMoved,
  };
  const shared = await opener.openEngine(where, engineOptions, token);
  if (settings !== undefined) await keepLog(shared, settings);
  const sync = durability === "full";
  const { limits: engineLimits } = shared.engine;
  const use = { sync, readOnly, allowMoved };
  return rules === undefined
    ? new EmbeddedKv(shared, {
        order: specificationOrder,
        limits: limitsWith(limits, defaultLimits, engineLimits),
        ...use,
      })
    : rules.open(shared, { limits: limitsWith(limits, denoLimits, engineLimits), ...use });
}

function assertOneOf(option: string, value: unknown, choices: readonly unknown[]): void {
  if (choices.includes(value)) return;
  const names = choices.map((choice) => JSON.stringify(choice) ?? "undefined");
  throw new InvalidOptionError(option, `must be ${names.join(" or ")}`, "openKv");
}

function assertFileChecks(checkFiles: unknown): void {
  if (typeof checkFiles === "boolean") return;
  if (typeof checkFiles !== "object" || checkFiles === null)
    throw new InvalidOptionError("checkFiles", "must be true, false or an object", "openKv");
  const { repeatAfter, bytesPerSecond, onProgress, ...others } = checkFiles as FileCheckOptions;
  const [unknown] = Object.keys(others);
  const names = "repeatAfter, bytesPerSecond, onProgress";
  if (unknown !== undefined)
    throw unknownOption(`checkFiles.${unknown}`, `the options are ${names}`);
  for (const [name, value] of Object.entries({ repeatAfter, bytesPerSecond })) {
    if (value === undefined || (typeof value === "number" && value > 0)) continue;
    throw new InvalidOptionError(`checkFiles.${name}`, "must be a number above 0", "openKv");
  }
  if (onProgress !== undefined && typeof onProgress !== "function")
    throw new InvalidOptionError("checkFiles.onProgress", "must be a function", "openKv");
}

function assertCacheBytes(cacheBytes: unknown): void {
  if (
    Number.isInteger(cacheBytes) &&
    (cacheBytes as number) >= 0 &&
    (cacheBytes as number) < 2 ** 32
  )
    return;
  const reason = "must be a whole number of bytes from 0 to 4,294,967,295";
  throw new InvalidOptionError("cacheBytes", reason, "openKv");
}

function assertAttach(attach: unknown): void {
  if (typeof attach === "boolean") return;
  if (typeof attach !== "object" || attach === null)
    throw new InvalidOptionError("attach", "must be true, false or an object", "openKv");
  const { serve, takeOver, ...others } = attach as AttachOptions;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw unknownOption(`attach.${unknown}`, "the options are serve, takeOver");
  assertOneOf("attach.serve", serve, [undefined, true, false]);
  assertOneOf("attach.takeOver", takeOver, [undefined, true, false]);
}

function assertWhere(where: unknown): void {
  const isDatabase =
    isEngine(where) ||
    isOwnedFiles(where) ||
    typeof (where as { open?: unknown } | null)?.open === "function";
  const isText = typeof where === "string" && where !== "";
  if (isText && !isRemoteAddress(where)) {
    const reason = foreignUrlReason(where);
    if (reason !== undefined) throw new InvalidOptionError("where", reason, "openKv");
  }
  if (isDatabase || isText) return;
  throw new InvalidOptionError("where", whereReason, "openKv");
}

/** @throws {InvalidOptionError} if an option is unknown: a misspelled one would have no effect. */
function assertKnown(options: object): void {
  const unknown = Object.keys(options).find((name) => !optionNames.has(name));
  if (unknown === undefined) return;
  throw unknownOption(unknown, `the options are ${[...optionNames].join(", ")}`);
}

function unknownOption(name: string, known: string): InvalidOptionError {
  return new InvalidOptionError(name, `is not an option; ${known}`, "openKv");
}
