import { isMaintained } from "../../state/catalog/catalog-entry.js";
import { canonicalJson } from "../../state/schema/manifests/hash.js";
import {
  parseCopyingText,
  parseRelationText,
  unfilledCopies,
} from "../../state/schema/manifests/model-manifest.js";
import { leftValues, planRemoval } from "./left-fields.js";
import type {
  DatabaseModel,
  MigrationPlan,
  MigrationStep,
  ModelFacts,
  ModelPlan,
  PlannedStep,
} from "./migration-plan.js";
import { planCounters } from "./plan-counters.js";
import { planIndexes } from "./plan-indexes.js";
import { changesKey, planKey, withStoredKey } from "./plan-key.js";
import { planRows } from "./plan-rows.js";
import { planWarnings } from "./plan-warnings.js";
import { indexesAffectedByUpgrade, plannedUpgrade } from "./planned-upgrade.js";

/**
 * @param databaseOnly models that only the database has.
 * @param drops the plans of models that are removed from the database.
 */
export function planModels(
  facts: readonly ModelFacts[],
  databaseOnly: readonly DatabaseModel[] = [],
  drops: readonly ModelPlan[] = [],
): MigrationPlan {
  const models = [...facts.map((modelFacts) => planModel(modelFacts)), ...drops];
  const steps = models.flatMap((plan) => plan.steps);
  return {
    models,
    steps,
    databaseOnly,
    leftValues: facts.flatMap((one) => (one.removesValues ? [] : leftValues(one))),
    warnings: facts.flatMap(planWarnings),
    isEmpty: steps.length === 0,
    isBreaking: steps.some((step) => step.class === "breaking"),
    needsMigration: steps.some((step) => step.blocked !== undefined),
  };
}

export function planModel(facts: ModelFacts): ModelPlan {
  const { model } = facts;
  const stepsOfKey = (others: readonly MigrationStep[]) =>
    planKey(facts, others).map((step) => toStep(model.name, step));
  if (changesKey(facts)) {
    const { steps } = planModel(withStoredKey(facts));
    return { model: model.name, steps: stepsOfKey(steps) };
  }
  const upgrade = plannedUpgrade(facts);
  const affected = indexesAffectedByUpgrade(facts);
  const indexSteps = planIndexes(facts, affected);
  const isPlanned = (name: string) => indexSteps.some(({ index }) => index === name);
  const moved = affected.filter(
    ({ name }) => !isPlanned(name) && isMaintained(facts.entry.indexes[name]?.state ?? "absent"),
  );
  const steps: readonly PlannedStep[] = [
    ...planName(facts),
    ...planRelations(facts),
    ...planCopying(facts),
    ...planRows(facts, upgrade, moved),
    ...planRemoval(facts),
    ...planCopies(facts),
    ...indexSteps,
    ...planCounters(facts),
  ];
  const others = steps.map((step) => toStep(model.name, step));
  return { model: model.name, steps: [...stepsOfKey(others), ...others] };
}

export function toStep(model: string, { of, ...planned }: PlannedStep): MigrationStep {
  const { reason } = planned;
  const step = { ...planned, reason: reason.endsWith(".") ? reason : `${reason}.` };
  const place = step.index ?? step.field ?? of;
  const id = `${place === undefined ? model : `${model}.${place}`}: ${step.kind}`;
  return { id, model, ...step };
}

function planName({ model, entry }: ModelFacts): PlannedStep[] {
  const steps: PlannedStep[] = [];
  if (entry.schema === undefined) {
    const reason = `The database has no record of the schema of ${model.name}. It takes the rows to be as the model describes them.`;
    steps.push({ kind: "register", class: "safe", sideBySide: true, reason });
  }
  if (entry.name !== undefined && entry.name !== model.name) {
    const reason = `The model ${model.name} was called ${entry.name}. Its rows stay under the prefix ${JSON.stringify(model.prefix)}.`;
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
  for (const [of, { onDelete, copy }] of declaredByName) {
    const previous = storedByName.get(of);
    if (previous === undefined) {
      const reason = `Every write checks ${of} from now on. Existing rows are not checked.`;
      steps.push({ kind: "add-relation", class: "safe", sideBySide: false, of, reason });
    } else if (previous.onDelete !== onDelete) {
      const reason = `The relation ${of} had onDelete: ${JSON.stringify(previous.onDelete)} and has ${JSON.stringify(onDelete)} now.`;
      steps.push({ kind: "change-relation", class: "safe", sideBySide: false, of, reason });
    } else if (canonicalJson(previous.copy) !== canonicalJson(copy)) {
      const fields = Object.keys(copy);
      const reason =
        fields.length === 0
          ? `The relation ${of} no longer copies fields.`
          : `The relation ${of} copies ${fields.join(", ")} now.`;
      steps.push({ kind: "change-relation", class: "safe", sideBySide: false, of, reason });
    }
  }
  for (const of of storedByName.keys()) {
    if (declaredByName.has(of)) continue;
    const reason = `${of} is no longer checked. Programs that rely on it may read rows that refer to a missing row.`;
    steps.push({ kind: "drop-relation", class: "breaking", sideBySide: false, of, reason });
  }
  return steps;
}

/** Plans the relations of other models that copy fields of this one. */
function planCopying({ model, entry, relations }: ModelFacts): PlannedStep[] {
  const stored = entry.relations ?? [];
  const isKnown = (texts: readonly string[], by: string) =>
    texts.some((text) => parseCopyingText(text) === by);
  const steps: PlannedStep[] = [];
  for (const text of relations) {
    const of = parseCopyingText(text);
    if (of === undefined || stored.includes(text)) continue;
    const kind = isKnown(stored, of) ? "change-relation" : "add-relation";
    const reason = `Every write of ${model.name} also writes its copies in ${of} from now on`;
    steps.push({ kind, class: "safe", sideBySide: false, of, reason });
  }
  for (const text of stored) {
    const of = parseCopyingText(text);
    if (of === undefined || isKnown(relations, of)) continue;
    const reason = `Writes of ${model.name} no longer write its copies in ${of}. They become outdated`;
    steps.push({ kind: "drop-relation", class: "breaking", sideBySide: false, of, reason });
  }
  return steps;
}

function planCopies({ model, entry, relations }: ModelFacts): PlannedStep[] {
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
