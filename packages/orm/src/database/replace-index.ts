import { takeLease } from "../migrate/lease.js";
import { migrationRun, type RunOptions } from "../migrate/migration-run.js";
import {
  type IndexReplacement,
  type ReplacedIndex,
  replaceIndex as replace,
} from "../migrate/replace-index.js";
import { type AnyDatabase, tableContextOf } from "./database.js";

/**
 * Does one step of putting an index in the place of another, such as one of pointers for one of copies: `"backfill"`, `"switch"`,
 * `"back"`, `"clean-up"`. The model has both.
 *
 * ```ts
 * await replaceIndex(db, { model: "users", from: "byNameCopy", to: "byName", step: "backfill" });
 * ```
 *
 * @throws {UnknownIndexError} for an index that the model does not have.
 * @throws {InvalidArgumentError} for indexes that differ in more than what their entries hold, and for a step that cannot
 * follow what has been done; it says which can.
 * @throws {StaleSchemaError} where the database has a newer schema than this program.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function replaceIndex(
  database: AnyDatabase,
  replacement: IndexReplacement & { readonly model: string },
  options: RunOptions & { readonly wait?: boolean } = {},
): Promise<ReplacedIndex | { readonly status: "busy" | "stopped" }> {
  const context = tableContextOf(database, replacement.model);
  const lease = await takeLease(context.kv, { wait: options.wait ?? true, signal: options.signal });
  if (typeof lease === "string") return { status: lease };
  try {
    return await replace(context, replacement, migrationRun(lease, options));
  } finally {
    await lease.release();
  }
}
