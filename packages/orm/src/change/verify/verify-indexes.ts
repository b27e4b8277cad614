import { ReadOnlyError } from "@keywright/core";
import { type VerifiedModel, verifyDerived } from "../../derived/verify-derived.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { isReadOnlyKv } from "../../state/catalog/read-only-kv.js";
import {
  type AnyDatabase,
  tableContextOf,
  tableContexts,
} from "../../state/context/any-database.js";
import type { TableContext } from "../../state/context/table-context.js";
import { awaitRunner, isRunnerAlive, takeLease } from "../../state/run/lease.js";
import { createRun, type RunOptions } from "../../state/run/migration-run.js";
import { renewRows } from "../../write/many/renew-rows.js";

export interface VerifyOptions extends RunOptions {
  /** The models to verify, by their `name`. All models by default. */
  readonly models?: readonly string[];
  /** The names of the indexes to verify, in all of these models. All indexes by default. */
  readonly indexes?: readonly string[];
  /** Repairs what is wrong. False by default. */
  readonly repair?: boolean;
  /**
   * Rebuilds the counters of the models even if no entry was repaired. It has an effect only with
   * `repair`. False by default.
   */
  readonly recount?: boolean;
  /** Waits while another runner is at work. True by default. */
  readonly wait?: boolean;
}

/** The result of a verification. */
export interface VerifyResult {
  /**
   * `"damaged"` if entries are wrong and were not repaired, or if an index cannot hold some rows.
   * `"stopped"` if the signal stopped the run. The next run resumes there. `"busy"` if another
   * runner is at work and `wait` is false, or if one has begun while a `readOnly` database was
   * verified and what was found may come from it.
   */
  readonly status: "clean" | "repaired" | "damaged" | "stopped" | "busy";
  /** The models whose verification has ended. */
  readonly models: readonly VerifiedModel[];
}

/**
 * Compares rows and index entries in both directions, in bounded memory, while others write.
 * Reports entries that are missing, dangling or mismatched, rows that an index cannot hold, counts,
 * sums and ranks that differ from the rows, and copied fields that differ from what they copy. With
 * `repair`, it repairs the entries and the copies, under checks, and builds the counters of a model
 * again if one is wrong or entries were repaired. Rows that an index cannot hold are not repaired.
 *
 * If the database is on disk, the checksums of its files are verified first.
 *
 * A database that was opened with `readOnly` keeps no progress, so that a stopped run is not
 * resumed.
 *
 * @throws {CorruptionError} if a file of the database is damaged.
 * @throws {InvalidArgumentError} if a model or an index does not exist.
 * @throws {StaleSchemaError} if `repair` is set and the database has a newer schema than this
 * program.
 * @throws {ReadOnlyError} if `repair` is set and the database was opened with `readOnly`.
 * @throws {LeaseLostError} if another runner has taken over.
 */
export async function verifyIndexes(
  database: AnyDatabase,
  options: VerifyOptions = {},
): Promise<VerifyResult> {
  const { repair = false, recount = false, wait = true, signal } = options;
  const contexts = verifiedContexts(database, options);
  const [first] = contexts;
  if (first === undefined) return { status: "clean", models: [] };
  const isReadOnly = isReadOnlyKv(first.catalog.database);
  if (isReadOnly && repair) throw new ReadOnlyError("verify");
  // After damage has been found, every read of the database fails and names the file.
  await first.kv.verifyFiles?.();
  const lease = await (isReadOnly ? awaitRunner : takeLease)(first.kv, { wait, signal });
  if (typeof lease === "string") return { status: lease, models: [] };
  try {
    const run = createRun(lease, options);
    const models: VerifiedModel[] = [];
    const before = isReadOnly ? await versionsOf(contexts) : [];
    for (const context of contexts) {
      const indexes = context.model.indexes.filter(
        ({ name }) => options.indexes?.includes(name) ?? true,
      );
      const onlyIndexes = options.indexes !== undefined;
      const how = { indexes, onlyIndexes, repair, recount };
      const verified = await verifyDerived(context, run, how, (keys) => renewRows(context, keys));
      if (verified === "stopped") return { status: "stopped", models };
      models.push(verified);
    }
    const status = statusOfVerified(models);
    const mayBeOfRunner =
      isReadOnly &&
      status !== "clean" &&
      ((await isRunnerAlive(first.kv)) ||
        (await versionsOf(contexts)).some((version, i) => version !== before[i]));
    return mayBeOfRunner ? { status: "busy", models: [] } : { status, models };
  } finally {
    await lease.release();
  }
}

/**
 * Returns the versionstamps of catalog entries. A runner that has changed indexes has changed them.
 */
async function versionsOf(contexts: readonly TableContext[]): Promise<readonly (string | null)[]> {
  const versions: (string | null)[] = [];
  for (const { kv, catalog } of contexts)
    versions.push((await kv.get(catalog.snapshot.check.key)).versionstamp);
  return versions;
}

function verifiedContexts(
  database: AnyDatabase,
  { models, indexes }: VerifyOptions,
): readonly TableContext[] {
  const contexts = tableContexts(database);
  const selected = models?.map((name) => tableContextOf(database, name)) ?? [...contexts.values()];
  for (const name of indexes ?? []) {
    const isKnown = selected.some(({ model }) =>
      model.indexes.some((index) => index.name === name),
    );
    if (!isKnown)
      throw new InvalidArgumentError("", "indexes", `no model has an index ${name}`, "verify");
  }
  return selected;
}

function statusOfVerified(models: readonly VerifiedModel[]): VerifyResult["status"] {
  let found = 0;
  let repaired = 0;
  let unindexed = 0;
  for (const model of models) {
    for (const count of Object.values(model.counts)) found += count;
    found += model.copies.count + model.counters.count;
    repaired += model.repaired + model.copies.repaired + model.counters.repaired;
    unindexed += model.unindexedCount;
  }
  if (found > repaired || unindexed > 0) return "damaged";
  return found > 0 ? "repaired" : "clean";
}
