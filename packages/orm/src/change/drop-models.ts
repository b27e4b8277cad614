import type { Kv, KvKey, KvKeyPart } from "@keywright/core";
import { waitForReaders } from "../derived/build-derived.js";
import { systemPrefix } from "../model/compiled-model.js";
import { partAfter } from "../model/keys/key-parts.js";
import { catalogPrefix, isBeingDropped } from "../state/catalog/catalog-entry.js";
import { readRowManifest } from "../state/catalog/row-manifests.js";
import { prefixesOfSums } from "../state/catalog/stored-counters.js";
import {
  placesOfOthers,
  placesOfStored,
  readStoredModels,
  type StoredModel,
} from "../state/catalog/stored-models.js";
import type { TableContext } from "../state/context/table-context.js";
import { clearPrefixes } from "../state/run/clear-prefix.js";
import type { MigrationRun } from "../state/run/migration-run.js";
import { modelsToDrop } from "./plan/plan-database-models.js";

/** A model that was removed from the database. */
export interface DroppedModel {
  readonly model: string;
  readonly prefix: string;
  /** The number of rows, index entries and other keys that this run has deleted. */
  readonly keys: number;
}

/**
 * Begins the removal of models by one commit to their catalog entries. From then on, no program can
 * read or write them, and only the rest of the removal can follow.
 *
 * @param names the models to drop. Those that the database does not have are skipped.
 */
export async function fenceDroppedModels(
  contexts: readonly TableContext[],
  { lease }: MigrationRun,
  names: readonly string[] = [],
): Promise<void> {
  const [context] = contexts;
  if (context === undefined || names.length === 0) return;
  const { kv, limits } = context;
  // The lease takes a check, and a mutation that renews it.
  const most = Math.min(limits.checks, limits.mutations) - 1;
  for (;;) {
    const dropped = modelsToDrop(await readStoredModels(kv, contexts), names);
    const open = dropped.filter(({ entry }) => !isBeingDropped(entry)).slice(0, most);
    if (open.length === 0) return;
    const operation = kv.atomic();
    for (const { check, entry } of open) {
      operation.check(check).set(check.key, { ...entry, format: 0 });
    }
    await lease.commit(operation);
  }
}

/**
 * Removes the models whose removal has begun: their rows, index entries and counters, and
 * everything else that is stored about them. The last commit deletes the catalog entry. Each commit
 * checks this entry, so nothing is deleted after another run has completed the removal.
 *
 * @param removed gets the models that are completely removed.
 * @returns false if the signal stopped it. The next call resumes with what is left.
 */
export async function removeDroppedModels(
  contexts: readonly TableContext[],
  run: MigrationRun,
  removed: DroppedModel[],
): Promise<boolean> {
  const [context] = contexts;
  if (context === undefined) return true;
  let hasWaited = false;
  for (;;) {
    const stored = await readStoredModels(context.kv, contexts);
    const [model] = stored.filter(({ entry }) => isBeingDropped(entry));
    if (model === undefined) return true;
    if (!hasWaited && !(await waitForReaders(context, run))) return false;
    hasWaited = true;
    const others = stored.filter(({ entry }) => !isBeingDropped(entry));
    // A damaged catalog may name the place of Keywright's own records.
    const used = new Set([systemPrefix, ...placesOfOthers(contexts, others).keys()]);
    const keys = await removeModel(context, run, model, used);
    if (keys === "stopped") return false;
    if (keys !== "changed") removed.push({ model: model.name, prefix: model.prefix, keys });
  }
}

/**
 * @param used the places of other models, where nothing is removed.
 * @returns the number of deleted keys; `"changed"` if the catalog entry has changed.
 */
async function removeModel(
  { kv, limits }: TableContext,
  run: MigrationRun,
  model: StoredModel,
  used: ReadonlySet<string>,
): Promise<number | "stopped" | "changed"> {
  const { name, prefix, entry, check } = model;
  const database = { kv, limits, catalog: { snapshot: { check } } };
  const meter = run.meter(name);
  meter.start("dropping", 0);
  let keys = 0;
  const onKeys = (deleted: number) => {
    keys += deleted;
    meter.advance(keys);
  };
  const places = [...placesOfStored(prefix, entry)].filter((place) => !used.has(place));
  const keyLengths = await rowKeyLengths(kv, model);
  const arePlacesClear = await clearPrefixes(
    database,
    run,
    places.map((place) => [place]),
    { keyLengths, onKeys },
  );
  if (arePlacesClear !== true) return arePlacesClear || "changed";
  // A program that refers to a row leaves a guard of it, as long as the row exists. So the records
  // follow after the rows.
  const owners = [...new Set([prefix, ...places, ...counterPrefixes(model, used)])];
  const records: KvKey[] = [];
  for await (const kind of recordKinds(kv))
    records.push(...owners.map((owner) => [systemPrefix, kind, owner]));
  const areRecordsClear = await clearPrefixes(database, run, records, { onKeys });
  if (areRecordsClear !== true) return areRecordsClear || "changed";
  const size = Math.max(1, limits.mutations - 1);
  for (let start = 0; start < records.length; start += size) {
    const operation = kv.atomic().check(check);
    for (const record of records.slice(start, start + size)) operation.delete(record);
    if (!(await run.lease.commit(operation)).ok) return "changed";
  }
  const { ok } = await run.lease.commit(kv.atomic().check(check).delete(check.key));
  return ok ? keys : "changed";
}

/**
 * Returns the number of key parts of the rows under each place that has rows. Entries with longer
 * keys, which something else has stored there, stay.
 */
async function rowKeyLengths(
  kv: Kv,
  { name, prefix, entry }: StoredModel,
): Promise<ReadonlyMap<string, number>> {
  const { place = prefix, otherLayout, schema } = entry;
  const lengths = new Map<string, number>();
  if (otherLayout !== undefined) lengths.set(otherLayout.place, 1 + otherLayout.primaryKey.length);
  const manifest = await readRowManifest(kv, { name, prefix }, schema?.hash);
  if (manifest !== undefined) lengths.set(place, 1 + manifest.primaryKey.length);
  // An earlier run has removed the manifest, after all rows.
  else if (schema !== undefined) lengths.set(place, 0);
  return lengths;
}

/** Returns the prefixes of counters of indexes, and of sums, but for those of other models. */
function counterPrefixes(model: StoredModel, used: ReadonlySet<string>): string[] {
  const { prefix: rows, entry } = model;
  const ofIndexes = Object.values(entry.indexes)
    .filter(({ state }) => state !== "absent")
    .flatMap(({ prefix, next, leaving }) => [prefix, next?.prefix, leaving?.prefix])
    .flatMap((prefix) => (prefix === undefined || used.has(prefix) ? [] : [prefix]));
  return [...ofIndexes, ...prefixesOfSums(entry, rows)];
}

/**
 * Returns the kinds of records that Keywright stores about models: the second parts of their keys.
 * The third part is the prefix of a model or the place of its rows or of an index.
 */
async function* recordKinds(kv: Kv): AsyncGenerator<string> {
  const prefix: KvKey = [systemPrefix];
  for (let previous: KvKeyPart | undefined; ; ) {
    const after = previous === undefined ? undefined : partAfter(previous);
    const selector = after === undefined ? { prefix } : { prefix, start: [systemPrefix, after] };
    const { value } = await kv.list(selector, { limit: 1 }).next();
    const kind: KvKeyPart | undefined = value?.key[1];
    if (kind === undefined) return;
    if (typeof kind === "string" && kind !== catalogPrefix[1]) yield kind;
    previous = kind;
  }
}
