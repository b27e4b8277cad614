import type { Kv } from "@keywright/core";
import { countedRows } from "../../derived/counters/count-stored-rows.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { isBeingDropped } from "../../state/catalog/catalog-entry.js";
import { hasEntries } from "../../state/catalog/has-entries.js";
import { readRowManifest } from "../../state/catalog/row-manifests.js";
import {
  placesOfOthers,
  placesOfStored,
  readStoredModels,
  type StoredModel,
} from "../../state/catalog/stored-models.js";
import type { TableContext } from "../../state/context/table-context.js";
import { type PlannedStep, toStep } from "../../state/run/migration-step.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { parseRelationText } from "../../state/schema/manifests/model-manifest.js";
import { compareRows } from "../../state/schema/upgrade/compare-rows.js";
import type { DatabaseModel, MigrationPlan, ModelPlan } from "./migration-plan.js";

/**
 * Describes the models that only the database has, and plans the removal of some of them.
 *
 * @param contexts all models of the program.
 * @param names the models to drop.
 * @throws {InvalidArgumentError} if the program has one of the models to drop.
 */
export async function planDatabaseModels(
  contexts: readonly TableContext[],
  names: readonly string[],
): Promise<{ readonly databaseOnly: MigrationPlan["databaseOnly"]; readonly drops: ModelPlan[] }> {
  const [context] = contexts;
  if (context === undefined) return { databaseOnly: [], drops: [] };
  const { kv } = context;
  const stored = await readStoredModels(kv, contexts);
  assertDroppable(names, contexts, stored);
  const described = await describeStoredModels(kv, contexts, stored);
  const drops = planDrops(names, contexts, stored, described);
  const databaseOnly = described.filter(({ model }) => drops.every((drop) => drop.model !== model));
  return { databaseOnly, drops };
}

/** Describes the stored models that have rows and are not being dropped. */
async function describeStoredModels(
  kv: Kv,
  contexts: readonly TableContext[],
  models: readonly StoredModel[],
): Promise<DatabaseModel[]> {
  const described: DatabaseModel[] = [];
  for (const { name, prefix, entry } of models) {
    if (isBeingDropped(entry)) continue;
    const list = kv.list({ prefix: [entry.place ?? prefix] }, { limit: 1 });
    const { value: firstRow } = await list.next();
    if (firstRow === undefined) continue;
    const rows = await countedRows(kv, prefix, entry);
    const manifest = await readRowManifest(kv, { prefix, name }, entry.schema?.hash);
    const renamedTo = await likelyNewName(manifest, firstRow.versionstamp, contexts);
    described.push({
      model: name,
      prefix,
      ...(rows !== undefined && { rows }),
      ...(renamedTo !== undefined && { renamedTo }),
    });
  }
  // Two models cannot have got the same name.
  return described.map((one) => {
    const { renamedTo, ...rest } = one;
    const isShared = described.some((other) => other !== one && other.renamedTo === renamedTo);
    return isShared ? rest : one;
  });
}

/**
 * Finds the model of a program that a stored model may have been renamed to. It has no rows, could
 * have those of the stored model as they are, and is newer than they are. A model with the same
 * schema comes first.
 *
 * @param stored the schema of the stored rows; undefined if it is not known.
 * @param writtenAt the versionstamp of a stored row.
 * @returns undefined if there is none, or more than one, because nothing tells which it is.
 */
async function likelyNewName(
  stored: RowManifest | undefined,
  writtenAt: string,
  contexts: readonly TableContext[],
): Promise<string | undefined> {
  if (stored === undefined) return undefined;
  const same: string[] = [];
  const compatible: string[] = [];
  for (const { kv, model, catalog } of contexts) {
    const { manifest } = catalog.programRows;
    // The database does not have the model yet if it is read-only.
    const { versionstamp } = catalog.snapshot.check;
    if (versionstamp !== null && versionstamp < writtenAt) continue;
    const isCompatible = compareRows(stored, manifest).every((change) => {
      return change.class === "safe" || change.class === "backfill";
    });
    if (!isCompatible || (await hasEntries(kv, model.place))) continue;
    (stored.hash === manifest.hash ? same : compatible).push(model.name);
  }
  const [name, ...others] = same.length > 0 ? same : compatible;
  return others.length === 0 ? name : undefined;
}

/**
 * Checks the names of models to drop. The names of models that the database does not have are
 * allowed, because an earlier run may have dropped them.
 *
 * @throws {InvalidArgumentError} if the program has one of the models.
 */
function assertDroppable(
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
function planDrops(
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
