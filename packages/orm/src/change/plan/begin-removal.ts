import { ulid } from "@keywright/core";
import {
  rowManifestKey,
  transformMarkKey,
  transformsOf,
} from "../../state/catalog/catalog-entry.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { again, retry } from "../../state/transaction/retry.js";
import { leftValues } from "./left-fields.js";
import { readFacts } from "./plan-migration.js";

/**
 * Begins the removal of the values of removed fields from the rows of a model, with one commit. It
 * is a change of all rows to the schema that they have. From then on, a row that was written before
 * the commit is read without these values, and written without them by every update.
 */
export async function beginRemoval(
  context: TableContext,
  { lease }: MigrationRun,
  names: readonly string[] = [],
): Promise<void> {
  const { kv, model, catalog } = context;
  if (!names.includes(model.name)) return;
  await retry(async () => {
    const facts = await readFacts(context);
    const [left] = leftValues(facts);
    const { entry, storedRow } = facts;
    if (left === undefined || storedRow === undefined) return undefined;
    catalog.snapshot.assertWritable();
    const { check } = catalog.snapshot;
    const earlier = transformsOf(entry.transform);
    const transform = {
      ...{ id: ulid(), from: storedRow.hash, removes: left.fields },
      ...(earlier.length > 0 && { earlier }),
    };
    const { left: _, ...manifest } = storedRow;
    const { ok } = await lease.commit(
      kv
        .atomic()
        .check(check)
        .set(check.key, { ...entry, transform })
        .set(rowManifestKey(model, storedRow.hash), manifest)
        .set(transformMarkKey(model, transform.id), { format: 1 }),
    );
    await catalog.reload();
    return ok ? undefined : again;
  });
}
