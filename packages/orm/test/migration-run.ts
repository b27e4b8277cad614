import type { Kv } from "@keywright/core";
import { type AnyDatabase, tableContexts } from "../src/state/context/any-database.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { takeLease } from "../src/state/run/lease.js";
import { createRun, type MigrationRun, type RunOptions } from "../src/state/run/migration-run.js";

/** Does something as a run of a migration, which has the lease of the database until then. */
export async function withRun<T>(
  kv: Kv,
  body: (run: MigrationRun) => Promise<T>,
  options: RunOptions = {},
): Promise<T> {
  const lease = await takeLease(kv, { wait: false });
  if (typeof lease === "string") throw new Error(lease);
  try {
    return await body(createRun(lease, options));
  } finally {
    await lease.release();
  }
}

/** What stands behind a model of a database, by the model's own name. */
export function contextOf(db: AnyDatabase, model: string): TableContext {
  const context = tableContexts(db).get(model);
  if (context === undefined) throw new Error(`no model ${model}`);
  return context;
}
