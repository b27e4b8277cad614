import { isLeaving, withPrimaryKey } from "../../state/catalog/other-layout.js";
import { rowManifest } from "../../state/schema/manifests/row-manifest.js";
import { hasSameKey } from "../../state/schema/upgrade/compare-rows.js";
import type { MigrationStep, ModelFacts, PlannedStep } from "./migration-plan.js";

/** True if the database stores the rows by another primary key than that of the model. */
export function changesKey({ model, storedRow }: ModelFacts): boolean {
  return (
    storedRow !== undefined && !hasSameKey(storedRow, rowManifest(model.schema, model.primaryKey))
  );
}

/** Returns the facts of a program that has the same model with the primary key of the database. */
export function withStoredKey(facts: ModelFacts): ModelFacts {
  const { model, entry, storedRow } = facts;
  const { otherLayout: _, ...kept } = entry;
  const indexes = Object.entries(entry.indexes).filter(([, { isOther }]) => !isOther);
  return {
    ...facts,
    model: withPrimaryKey(model, storedRow?.primaryKey ?? model.primaryKey),
    entry: { ...kept, indexes: Object.fromEntries(indexes) },
  };
}

/**
 * Plans the change of the primary key, or the removal of what an earlier change has left.
 *
 * @param others the other steps of the model, as planned with the stored primary key.
 */
export function planKey(
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
