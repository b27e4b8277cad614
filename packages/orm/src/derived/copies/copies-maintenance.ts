import type { AnyRow } from "../../model/compiled-model.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import { changeCatalog } from "../../state/run/change-catalog.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import type { PlannedStep } from "../../state/run/migration-step.js";
import type { ModelFacts } from "../../state/run/model-facts.js";
import { scan } from "../../state/run/page-reader.js";
import { unfilledCopies } from "../../state/schema/manifests/model-manifest.js";
import { countStoredRows } from "../counters/count-stored-rows.js";
import type { Maintenance } from "../maintenance.js";
import type { RenewRows } from "../verify/verifier.js";
import { copiesVerifier, primaryKeysOf, suspectCopies } from "./copies-verifier.js";

/** Fills the copied fields of all rows. */
export const copiesMaintenance: Maintenance = {
  name: "copies",
  steps: copySteps,
  begin({ unfilled: _, ...entry }, { relations, entry: before }) {
    const unfilled = unfilledCopies(relations, before).map(({ text }) => text);
    return unfilled.length === 0 ? entry : { ...entry, unfilled };
  },
  build: (store, run, { renewRows }) => fillCopies(store, run, renewRows),
  verifier: copiesVerifier,
};

function copySteps({ model, entry, relations }: ModelFacts): PlannedStep[] {
  const fields = new Map<string, { readonly target: string; readonly names: string[] }>();
  for (const copy of unfilledCopies(relations, entry)) {
    const of = copy.fields.join(",");
    const relation = fields.get(of) ?? { target: copy.model, names: [] };
    fields.set(of, { ...relation, names: [...relation.names, copy.field] });
  }
  return [...fields].map(([of, { target, names }]) => {
    const reason = `Each row of ${model.name} gets ${names.join(", ")} from the row of ${target} that it refers to`;
    return { kind: "fill-copies", class: "backfill", sideBySide: false, of, reason };
  });
}

/**
 * Fills the copied fields of a model's rows if the catalog lists some that are not filled. Writers
 * have maintained them since the catalog lists them. If a run is stopped or killed, the next one
 * reads the rows again, and writes those that still differ.
 *
 * @returns false if the signal stopped it.
 */
async function fillCopies(
  store: RelatedStore,
  run: MigrationRun,
  renewRows: RenewRows,
): Promise<boolean> {
  const { catalog, model } = store;
  await catalog.reload();
  const { unfilled } = catalog.snapshot.entry;
  if (unfilled === undefined) return true;
  const total = await countStoredRows(store, run, []);
  if (total === undefined) return false;
  const meter = run.meter(model.name);
  meter.start("transforming", 0, total);
  let rows = 0;
  for await (const { entries } of scan<AnyRow>(store, run, [model.place])) {
    // Most rows differ, so none is compared twice.
    const outdated = primaryKeysOf(await suspectCopies(store, entries));
    if (outdated.length > 0) await renewRows(outdated);
    rows += entries.length;
    meter.advance(rows, total);
  }
  if (run.signal?.aborted) return false;
  await changeCatalog(store, run.lease, ({ unfilled: before, ...entry }) =>
    before === undefined ? undefined : entry,
  );
  return true;
}
