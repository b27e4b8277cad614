import { InvalidArgumentError } from "../../errors/query-errors.js";
import { isBeingDropped } from "../../state/catalog/catalog-entry.js";
import { placesOfOthers, placesOfStored } from "../../state/catalog/model-places.js";
import type { StoredModel } from "../../state/catalog/stored-models.js";
import type { TableContext } from "../../state/context/table-context.js";
import { parseRelationText } from "../../state/schema/manifests/model-manifest.js";
import type { DatabaseModel, ModelPlan, PlannedStep } from "./migration-plan.js";
import { toStep } from "./plan-model.js";

/**
 * Checks the names of models to drop. The names of models that the database does not have are
 * allowed, because an earlier run may have dropped them.
 *
 * @throws {InvalidArgumentError} if the program has one of the models.
 */
export function assertDroppable(
  names: readonly string[],
  contexts: readonly TableContext[],
  stored: readonly StoredModel[],
): void {
  for (const name of names) {
    const isStored = stored.some((one) => one.name === name);
    if (isStored || contexts.every(({ model }) => model.name !== name)) continue;
    const reason = `the program has the model ${JSON.stringify(name)}; remove it from models first`;
    throw new InvalidArgumentError("", "dropModels", reason);
  }
}

/** Returns the stored models that are being dropped or are to be dropped. */
export function modelsToDrop(
  stored: readonly StoredModel[],
  names: readonly string[],
): StoredModel[] {
  return stored.filter(({ name, entry }) => isBeingDropped(entry) || names.includes(name));
}

/**
 * Plans the removal of models that only the database has: of those whose removal has begun, and of
 * those with these names.
 *
 * @param described what is known of the stored models that have rows.
 */
export function planDrops(
  names: readonly string[],
  contexts: readonly TableContext[],
  stored: readonly StoredModel[],
  described: readonly DatabaseModel[],
): ModelPlan[] {
  const dropped = modelsToDrop(stored, names);
  const remaining = stored.filter((one) => !dropped.includes(one));
  return dropped.map((one) => {
    const known = described.find(({ prefix }) => prefix === one.prefix);
    const step = isBeingDropped(one.entry)
      ? runningStep(one)
      : dropStep(one, known, obstacleOf(one, contexts, remaining));
    return { model: one.name, steps: [toStep(one.name, step)] };
  });
}

const drop = { kind: "drop-model", sideBySide: false } as const;

function runningStep({ name }: StoredModel): PlannedStep {
  const reason = `The model ${name} is being removed with all of its rows. A run resumes this.`;
  return { ...drop, class: "safe", reason };
}

function dropStep(
  { name }: StoredModel,
  described: DatabaseModel | undefined,
  blocked: string | undefined,
): PlannedStep {
  const rows = described === undefined ? "" : ` with ${rowsText(described)}`;
  const { prefix = "", renamedTo } = described ?? {};
  const isRenamed = renamedTo !== undefined;
  const advice = !isRenamed
    ? ""
    : ` If it is called ${renamedTo} now, do not drop it: give the model ${renamedTo} prefix: ${JSON.stringify(prefix)}, and the rows stay.`;
  const reason = `The model ${name} is removed from the database${rows}. This cannot be undone. Programs that have the model can neither read nor write it any longer.${advice}`;
  return {
    ...drop,
    class: "breaking",
    reason,
    ...(isRenamed && { renamedTo, prefix }),
    ...(blocked !== undefined && { blocked }),
  };
}

function rowsText({ rows }: DatabaseModel): string {
  if (rows === undefined) return "its rows";
  return rows === 1 ? "its row" : `its ${rows} rows`;
}

/** Returns what has to be done before a model can be dropped. Undefined if nothing has. */
function obstacleOf(
  { name, prefix, entry }: StoredModel,
  contexts: readonly TableContext[],
  remaining: readonly StoredModel[],
): string | undefined {
  const referrers = [
    ...contexts.map(({ model, catalog }) => {
      return { model: model.name, isStored: false, relations: catalog.programRows.relations };
    }),
    ...remaining.map((one) => {
      return { model: one.name, isStored: true, relations: one.entry.relations ?? [] };
    }),
  ];
  for (const { model, isStored, relations } of referrers) {
    const relation = relations.map(parseRelationText).find((one) => one?.model === prefix);
    if (relation === undefined) continue;
    const by = `Rows of ${model} refer to ${name} by ${relation.fields.join(", ")} (belongsTo).`;
    return isStored
      ? `${by} Drop ${model} too, or migrate it without this relation first.`
      : `${by} Remove this relation first.`;
  }
  const used = placesOfOthers(contexts, remaining);
  for (const place of [prefix, ...placesOfStored(prefix, entry)]) {
    const owner = used.get(place);
    if (owner === undefined) continue;
    return `The model ${owner} also stores entries under ${JSON.stringify(place)}, so they cannot be distinguished. Give ${owner} or its index another prefix first.`;
  }
  return undefined;
}
