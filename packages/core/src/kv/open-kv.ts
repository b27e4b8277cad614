import type { LevelDatabase } from "../engine/level/level-engine.js";
import { InvalidOptionError } from "../errors/core-errors.js";
import { specificationOrder } from "../keys/key-order.js";
import { DenoKv } from "./deno/deno-kv.js";
import { denoLimits } from "./deno/deno-limits.js";
import { EmbeddedKv } from "./embedded-kv.js";
import { assertLimits, defaultLimits, type KvLimits, limitsWith } from "./limits.js";
import { createsMissing } from "./missing-database.js";
import {
  type OpenEngineOptions,
  openDiskEngine,
  openLevelEngine,
  openMemoryEngine,
} from "./open-engine.js";

/** How `openKv` opens a database. */
export interface OpenKvOptions {
  /**
   * What an acknowledged commit survives: with `"full"` (the default) a power cut, with `"relaxed"` a killed process.
   * It holds for the commits made through this handle.
   */
  durability?: "full" | "relaxed" | undefined;
  /**
   * As Deno KV has it, byte for byte: the order of key parts, the limits, the cursors and the texts of errors. A database
   * remembers whether it was made so, and is refused otherwise.
   */
  compat?: "deno" | undefined;
  /** How much the database takes at once, where that is not the default. It holds for this handle. */
  limits?: Partial<KvLimits> | undefined;
  /** Refuse writes, and to make a database where there is none. LevelDB itself still tidies its files on disk. */
  readOnly?: boolean | undefined;
  /** Whether a folder without a database gets one: true without it, and false where `readOnly` is true. */
  createIfMissing?: boolean | undefined;
}

const optionNames: ReadonlySet<string> = new Set([
  "durability",
  "compat",
  "limits",
  "readOnly",
  "createIfMissing",
]);

/**
 * Opens a database: in memory without a place or with `":memory:"`, in a folder on disk, which is made where it is
 * absent, or on an abstract-level database that the caller made (closing it is then part of `close()`). Opening the
 * same path again in one process shares the database; it is closed with its last handle.
 *
 * ```ts
 * const kv = await openKv("./data");
 * await kv.set(["users", "ada"], { name: "Ada" });
 * ```
 *
 * @throws {InvalidOptionError} for an option that is not valid.
 * @throws {DatabasePathError} where the path is a file, or a folder of other things.
 * @throws {DatabaseNotFoundError} where there is no database, and none is to be made.
 * @throws {DatabaseLockedError} where another process has the database open.
 * @throws {DatabaseFormatError} where the data there is not Keywright's, or of a later format.
 * @throws {DatabaseModeError} where the database was made with the other `compat`.
 * @throws {CorruptionError} where the database is damaged.
 */
export async function openKv(
  where: string | LevelDatabase = ":memory:",
  options: OpenKvOptions = {},
): Promise<EmbeddedKv> {
  assertWhere(where);
  assertKnown(options);
  const { durability = "full", compat, limits = {}, readOnly = false } = options;
  const { createIfMissing = true } = options;
  assertOneOf("durability", durability, ["full", "relaxed"]);
  assertOneOf("compat", compat, [undefined, "deno"]);
  assertOneOf("createIfMissing", createIfMissing, [true, false]);
  assertLimits(limits);
  const mode = compat === "deno" ? "deno" : "specification";
  const shared = await openEngine(where, {
    mode,
    readOnly,
    createIfMissing: !readOnly && createsMissing(createIfMissing),
  });
  const sync = durability === "full";
  const { limits: engineLimits } = shared.engine;
  return mode === "deno"
    ? new DenoKv(shared, { limits: limitsWith(limits, denoLimits, engineLimits), sync, readOnly })
    : new EmbeddedKv(shared, {
        order: specificationOrder,
        limits: limitsWith(limits, defaultLimits, engineLimits),
        sync,
        readOnly,
      });
}

function openEngine(where: string | LevelDatabase, options: OpenEngineOptions) {
  if (typeof where !== "string") return openLevelEngine(where, options);
  return where === ":memory:" ? openMemoryEngine(options) : openDiskEngine(where, options);
}

function assertOneOf(option: string, value: unknown, choices: readonly unknown[]): void {
  if (choices.includes(value)) return;
  const names = choices.filter((choice) => choice !== undefined).map((choice) => `"${choice}"`);
  throw new InvalidOptionError(option, `it is ${names.join(" or ")}`);
}

function assertWhere(where: unknown): void {
  const isDatabase = typeof (where as { open?: unknown } | null)?.open === "function";
  if (isDatabase || (typeof where === "string" && where !== "")) return;
  throw new InvalidOptionError("where", 'it is a path, ":memory:" or an abstract-level database');
}

/** A misspelled option would be one that is silently left out. */
function assertKnown(options: object): void {
  const unknown = Object.keys(options).find((name) => !optionNames.has(name));
  if (unknown !== undefined) throw new InvalidOptionError(unknown, "there is no such option");
}
