import { declaredCounters, rowCounter } from "../../catalog/catalog-entry.js";
import { parseRelationText } from "../../schema/model-manifest.js";
import { rowManifest } from "../../schema/row-manifest.js";
import { affectedIndexes, findUpgrade, type RowUpgrade } from "../../schema/row-upgrade.js";
import type {
  DatabaseModel,
  MigrationPlan,
  MigrationStep,
  ModelFacts,
  ModelPlan,
  PlannedStep,
} from "./migration-plan.js";
import { planIndexes, renamedCounters } from "./plan-indexes.js";
import { planRows } from "./plan-rows.js";

/**
 * Plans the migration of some models. Does not access the database.
 *
 * @param databaseOnly models that only the database has.
 */
export function planModels(
  facts: readonly ModelFacts[],
  databaseOnly: readonly DatabaseModel[] = [],
): MigrationPlan {
  const models = facts.map((modelFacts) => planModel(modelFacts));
  const steps = models.flatMap((plan) => plan.steps);
  return {
    models,
    steps,
    databaseOnly,
    isEmpty: steps.length === 0,
    isBreaking: steps.some((step) => step.class === "breaking"),
    needsMigration: steps.some((step) => step.blocked !== undefined),
  };
}

/** Plans the migration of one model. Does not access the database. */
export function planModel(facts: ModelFacts): ModelPlan {
  const { model } = facts;
  const upgrade = upgradeOf(facts);
  const affected = upgrade === undefined ? [] : affectedIndexes(model, upgrade);
  const steps: readonly PlannedStep[] = [
    ...planName(facts),
    ...planRelations(facts),
    ...planRows(facts, upgrade),
    ...planIndexes(facts, affected),
    ...planCounters(facts),
  ];
  return { model: model.name, steps: steps.map((step) => toStep(model.name, step)) };
}

function toStep(model: string, { of, ...step }: PlannedStep): MigrationStep {
  const place = step.index ?? step.field ?? of;
  const id = `${place === undefined ? model : `${model}.${place}`}: ${step.kind}`;
  return { id, model, ...step };
}

function upgradeOf({ model, entry, storedRow, migrations }: ModelFacts): RowUpgrade | undefined {
  const to = rowManifest(model.schema, model.primaryKey);
  const isKnown = storedRow === undefined || entry.schema?.accepts.includes(to.hash) === true;
  return isKnown ? undefined : findUpgrade(storedRow, model, to, migrations);
}

function planName({ model, entry }: ModelFacts): PlannedStep[] {
  const steps: PlannedStep[] = [];
  if (entry.schema === undefined) {
    const reason =
      "The database does not know yet what its rows are: it takes them to be as the model says";
    steps.push({ kind: "register", class: "safe", sideBySide: true, reason });
  }
  if (entry.name !== undefined && entry.name !== model.name) {
    const reason = `It was ${JSON.stringify(entry.name)}; its rows stay under ${JSON.stringify(model.prefix)}`;
    steps.push({ kind: "rename-model", class: "safe", sideBySide: true, reason });
  }
  return steps;
}

function planRelations({ entry, relations }: ModelFacts): PlannedStep[] {
  const parse = (texts: readonly string[]) =>
    texts.flatMap((text) => parseRelationText(text) ?? []);
  const declared = parse(relations);
  const stored = parse(entry.relations ?? []);
  // A database that no program has migrated has no record of its relations.
  if (entry.relations === undefined && entry.schema === undefined) return [];
  const nameOf = ({ fields, model: target }: (typeof declared)[number]) =>
    `${fields.join(",")} → ${target}`;
  const storedByName = new Map(stored.map((relation) => [nameOf(relation), relation]));
  const declaredByName = new Map(declared.map((relation) => [nameOf(relation), relation]));
  const steps: PlannedStep[] = [];
  for (const [of, { onDelete }] of declaredByName) {
    const previous = storedByName.get(of);
    if (previous === undefined) {
      const reason = `${of} is checked by every write from now on; rows that are there are not looked at`;
      steps.push({ kind: "add-relation", class: "safe", sideBySide: false, of, reason });
    } else if (previous.onDelete !== onDelete) {
      const reason = `${of} had onDelete: ${JSON.stringify(previous.onDelete)} and has ${JSON.stringify(onDelete)}`;
      steps.push({ kind: "change-relation", class: "safe", sideBySide: false, of, reason });
    }
  }
  for (const of of storedByName.keys()) {
    if (declaredByName.has(of)) continue;
    const reason = `${of} is not checked any more: programs that rely on it may meet rows that refer to nothing`;
    steps.push({ kind: "drop-relation", class: "breaking", sideBySide: false, of, reason });
  }
  return steps;
}

function planCounters(facts: ModelFacts): PlannedStep[] {
  const { model } = facts;
  const counters = renamedCounters(facts);
  const declared = declaredCounters(model);
  const steps: PlannedStep[] = [];
  const textOf = (name: string) =>
    name === rowCounter ? "all rows" : `the rows of each key of ${name}`;
  for (const name of declared) {
    const state = Object.hasOwn(counters, name) ? counters[name] : undefined;
    if (state === "readable") continue;
    const isNew = state === undefined || state === "absent";
    const reason = isNew ? `Counts ${textOf(name)}` : `Counts ${textOf(name)}: it is under way`;
    const of = `count(${name})`;
    steps.push({
      kind: "build-counter",
      class: "backfill",
      sideBySide: false,
      counter: name,
      of,
      reason,
    });
  }
  for (const [name, state] of Object.entries(counters)) {
    if (declared.includes(name) || state === "absent") continue;
    const of = `count(${name})`;
    const isUnderWay = state === "dropping";
    const reason = isUnderWay
      ? `The count of ${textOf(name)} is being removed`
      : `The count of ${textOf(name)} is not kept any more: programs that have it are slower, or refused`;
    const stepClass = isUnderWay ? "safe" : "breaking";
    steps.push({
      kind: "drop-counter",
      class: stepClass,
      sideBySide: isUnderWay,
      counter: name,
      of,
      reason,
    });
  }
  return steps;
}
