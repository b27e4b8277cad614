import { isLeaving, withPrimaryKey } from "../../state/catalog/other-layout.js";
import { countersIn } from "../../state/catalog/stored-counters.js";
import { readStoredModels } from "../../state/catalog/stored-models.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import { deleteJobsPrefix } from "../../state/references/guard-keys.js";
import type { MigrationStep, PlannedStep } from "../../state/run/migration-step.js";
import { type ModelFacts, modelFacts } from "../../state/run/model-facts.js";
import { parseRelationText } from "../../state/schema/manifests/model-manifest.js";
import { hasSameKey } from "../../state/schema/upgrade/compare-rows.js";

/** True if the database stores the rows by another primary key than that of the model. */
export function changesKey({ manifest, storedRow }: ModelFacts): boolean {
  return storedRow !== undefined && !hasSameKey(storedRow, manifest);
}

/** Returns the facts of a program that has the same model with the primary key of the database. */
export function withStoredKey(facts: ModelFacts): ModelFacts {
  const { model, entry, storedRow } = facts;
  const { otherLayout: _, ...kept } = entry;
  const indexes = Object.entries(entry.indexes).filter(([, { isOther }]) => !isOther);
  return modelFacts({
    ...facts,
    model: withPrimaryKey(model, storedRow?.primaryKey ?? model.primaryKey),
    entry: { ...kept, indexes: Object.fromEntries(indexes) },
  });
}

/**
 * Plans the change of the primary key, or the removal of what an earlier change has left.
 *
 * @param others the other steps of the model, as planned with the stored primary key.
 */
export function keySteps(
  facts: ModelFacts,
  others: readonly MigrationStep[],
): readonly PlannedStep[] {
  const { model, entry, storedRow } = facts;
  const { name, primaryKey } = model;
  const step = { kind: "change-primary-key", field: primaryKey.join(",") } as const;
  const { otherLayout } = entry;
  if (storedRow !== undefined && changesKey(facts)) {
    const [before, now] = [JSON.stringify(storedRow.primaryKey), JSON.stringify(primaryKey)];
    const reason = `The primary key was ${before} and is ${now}. The rows of ${name} are also stored by ${now}, beside readers and writers. Then programs with the primary key ${before} can neither read nor write them.`;
    const blocked = obstacleOf(facts, storedRow.primaryKey, others);
    return [{ ...step, class: "breaking", sideBySide: false, reason, ...(blocked && { blocked }) }];
  }
  if (otherLayout === undefined) return [];
  const other = JSON.stringify(otherLayout.primaryKey);
  if (isLeaving(entry)) {
    const reason = `The rows of ${name} by the earlier primary key ${other} are removed.`;
    return [{ ...step, class: "safe", sideBySide: true, reason }];
  }
  const reason = `The change of the primary key to ${other} is not complete. It is given up, and the rows of ${name} by that key are removed.`;
  return [{ ...step, class: "breaking", sideBySide: true, reason }];
}

/** Returns what has to be done before the primary key can change. Undefined if nothing. */
function obstacleOf(
  facts: ModelFacts,
  storedKey: readonly string[],
  others: readonly MigrationStep[],
): string | undefined {
  const { model, entry, keyObstacle } = facts;
  const key = JSON.stringify(storedKey);
  const { expires, counters = {}, otherLayout } = entry;
  const isOtherChange =
    otherLayout !== undefined &&
    !isLeaving(entry) &&
    otherLayout.primaryKey.join("\n") !== model.primaryKey.join("\n");
  if (isOtherChange)
    return `A change of the primary key to ${JSON.stringify(otherLayout.primaryKey)} is not complete. Complete it, or give it up by running migrate with the primary key ${key}.`;
  if (others.length > 0) {
    const list = others.map(({ id }) => id).join(", ");
    return `The primary key changes in a step of its own. Run migrate with the primary key ${key} first (${list}).`;
  }
  if (expires && Object.keys(counters).length > 0)
    return `Rows of ${model.name} expire and are counted. Remove the option count, and run migrate with the primary key ${key} first. Add it again afterwards.`;
  return keyObstacle;
}

/**
 * Returns what prevents a change of the primary key and is not known from the catalog entry of the
 * model: rows whose expiry times the database does not report, a delete that is not complete, and
 * references that the program cannot check. Undefined if nothing does.
 */
export async function readKeyObstacle(context: RelatedStore): Promise<string | undefined> {
  const { kv, model, catalog, tables } = context;
  const { entry, storedKey } = catalog.snapshot;
  const key = JSON.stringify(storedKey);
  if (entry.expires && !catalog.capabilities.returnsExpiry)
    return `Rows of ${model.name} expire, and the database does not report when. Move them to a new model, as the guide to migrations shows under "Moving rows to a new model".`;
  const ranked =
    model.indexes.find((index) => index.ranked)?.name ??
    countersIn(entry).find(({ isRanked }) => isRanked)?.index;
  if (ranked !== undefined)
    return `The index ${ranked} is ranked, and its intervals begin at keys with the primary key. Remove ranked from the index, run migrate with the primary key ${key}, change the primary key, and declare ranked again.`;
  const text = model.indexes.find((index) => index.text !== undefined);
  if (text !== undefined)
    return `The index ${text.name} is a full-text index, whose documents are known by the primary key. Remove the index, run migrate with the primary key ${key}, change the primary key, and declare the index again.`;
  const jobs = kv.list({ prefix: [...deleteJobsPrefix, model.place] }, { limit: 1 });
  if ((await jobs.next()).done !== true)
    return `A delete of a row of ${model.name} is not complete. Complete it with resumeDeletes, by a program with the primary key ${key}.`;
  const refers = (relations: readonly string[] = []) =>
    relations.some((text) => parseRelationText(text)?.model === model.prefix);
  if (refers(entry.relations) || refers(catalog.programRows.relations))
    return `Rows of ${model.name} refer to each other by their primary key. Remove this belongsTo relation, and run migrate with the primary key ${key} first. Add it again, by the new key, afterwards.`;
  for (const table of tables.values()) {
    const refersToKey = refers(table.catalog.programRows.relations);
    if (table !== context && refersToKey && !table.catalog.snapshot.hasSameKey)
      return `The primary key of ${table.model.name}, whose rows refer to ${model.name}, changes too. Change one of them after the other.`;
  }
  for (const { prefix, entry: other } of await readStoredModels(kv, [...tables.values()])) {
    if (!refers(other.relations)) continue;
    return `Rows of ${other.name ?? prefix} refer to ${model.name}. Open the database with this model too, so that the references can be checked.`;
  }
  return undefined;
}
