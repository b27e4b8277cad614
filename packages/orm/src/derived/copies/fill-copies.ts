import type { RelatedStore } from "../../state/context/table-context.js";
import { changeCatalog } from "../../state/run/change-catalog.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { countStoredRows } from "../counters/count-stored-rows.js";
import { checkCopies, type RenewCopies } from "./check-copies.js";

/**
 * Fills the copied fields of a model's rows if the catalog lists some that are not filled. Writers
 * have maintained them since the catalog lists them. If a run is stopped or killed, the next one
 * reads the rows again, and writes those that still differ.
 *
 * @returns false if the signal stopped it.
 */
export async function fillCopies(
  store: RelatedStore,
  run: MigrationRun,
  renew: RenewCopies,
): Promise<boolean> {
  const { catalog, model } = store;
  await catalog.reload();
  const { unfilled } = catalog.snapshot.entry;
  if (unfilled === undefined) return true;
  const total = await countStoredRows(store, run, []);
  if (total === undefined) return false;
  const meter = run.meter(model.name);
  meter.start("transforming", 0, total);
  const onPage = (rows: number) => meter.advance(rows, total);
  const checked = await checkCopies(store, run, { renew, onPage });
  if (checked === "stopped") return false;
  await changeCatalog(store, run.lease, ({ unfilled: before, ...entry }) =>
    before === undefined ? undefined : entry,
  );
  return true;
}
