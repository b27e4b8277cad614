import { type AnyDatabase, tableContextOf, tableContexts } from "../../context/any-database.js";
import type { TableContext } from "../../context/table-context.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { takeLease } from "../run/lease.js";
import { migrationRun, type RunOptions } from "../run/migration-run.js";
import type { VerifiedModel } from "./verified-model.js";
import { verifyModel } from "./verify-model.js";

/** Which indexes are verified, and how. */
export interface VerifyOptions extends RunOptions {
  /** The models' own names; all of the database without it. */
  readonly models?: readonly string[];
  /** The names of indexes, of each of the models; all of them without it. */
  readonly indexes?: readonly string[];
  /** Puts right what is wrong. */
  readonly repair?: boolean;
  /** Waits where another runner is at work; it does without this. */
  readonly wait?: boolean;
}

/** How a verification ended, and what it has found. */
export interface VerifyResult {
  /**
   * `"damaged"`: entries are wrong that were not repaired, or an index cannot hold some rows. `"stopped"` by the signal: the next run
   * goes on there.
   */
  readonly status: "clean" | "repaired" | "damaged" | "stopped" | "busy";
  /** Those that it came to the end of. */
  readonly models: readonly VerifiedModel[];
}

/**
 * Reads rows and index entries both ways, in bounded memory and beside writers, and says which entries are missing, dangling or
 * hold something else than they should; with `repair` it puts them right, under checks. It also says which rows an index cannot
 * hold, which no repair puts right. Counters are not looked at: where
 * entries of a model were repaired, its counters are built anew.
 *
 * @throws {InvalidArgumentError} for a model or an index that there is not.
 * @throws {StaleSchemaError} where it is to repair, and the database has a newer schema than this program.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function verifyIndexes(
  database: AnyDatabase,
  options: VerifyOptions = {},
): Promise<VerifyResult> {
  const { repair = false, wait = true, signal } = options;
  const contexts = verifiedContexts(database, options);
  const [any] = contexts;
  if (any === undefined) return { status: "clean", models: [] };
  const lease = await takeLease(any.kv, { wait, signal });
  if (typeof lease === "string") return { status: lease, models: [] };
  try {
    const run = migrationRun(lease, options);
    const models: VerifiedModel[] = [];
    for (const context of contexts) {
      const indexes = context.model.indexes.filter(
        ({ name }) => options.indexes?.includes(name) ?? true,
      );
      const verified = await verifyModel(context, indexes, run, { repair });
      if (verified === "stopped") return { status: "stopped", models };
      models.push(verified);
    }
    return { status: statusOfVerified(models), models };
  } finally {
    await lease.release();
  }
}

function verifiedContexts(
  database: AnyDatabase,
  { models, indexes }: VerifyOptions,
): readonly TableContext[] {
  const contexts = tableContexts(database);
  const chosen = models?.map((name) => tableContextOf(database, name)) ?? [...contexts.values()];
  for (const name of indexes ?? []) {
    const isKnown = chosen.some(({ model }) => model.indexes.some((one) => one.name === name));
    if (!isKnown) throw new InvalidArgumentError("", "indexes", `no model has an index ${name}`);
  }
  return chosen;
}

function statusOfVerified(models: readonly VerifiedModel[]): VerifyResult["status"] {
  let found = 0;
  let repaired = 0;
  let unindexed = 0;
  for (const model of models) {
    for (const count of Object.values(model.counts)) found += count;
    repaired += model.repaired;
    unindexed += model.unindexedCount;
  }
  if (found > repaired || unindexed > 0) return "damaged";
  return found > 0 ? "repaired" : "clean";
}
