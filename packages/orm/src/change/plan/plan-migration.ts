import { maintained } from "../../derived/build-derived.js";
import { changesKey, keySteps, withStoredKey } from "../../derived/layout/key-steps.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { isMaintained } from "../../state/catalog/catalog-entry.js";
import { type AnyDatabase, tableContexts } from "../../state/context/any-database.js";
import type { TableContext } from "../../state/context/table-context.js";
import { type MigrationStep, type PlannedStep, toStep } from "../../state/run/migration-step.js";
import { indexesAffectedByUpgrade, type ModelFacts } from "../../state/run/model-facts.js";
import type { DatabaseModel, MigrationPlan, ModelPlan } from "./migration-plan.js";
import { planDatabaseModels } from "./plan-database-models.js";
import { planRelations } from "./plan-relations.js";
import { planRows, planWarnings } from "./plan-rows.js";
import { readFacts } from "./read-facts.js";
import { leftValues, planRemoval } from "./remove-values.js";

export interface PlanOptions {
  /**
   * The names of models to remove with all of their rows. Only models that the database has and the
   * program does not have any longer can be removed. Names that the database does not have are
   * skipped.
   */
  readonly dropModels?: readonly string[] | undefined;
  /**
   * The names of models from whose rows the values of removed fields are removed. This cannot be
   * undone. Models without such values are skipped.
   */
  readonly removeValues?: readonly string[] | undefined;
}

/**
 * Plans the steps that lead from a database to the models that it was opened with. Each step has a
 * class. Writes nothing. The plan is plain data; `formatPlan` makes text of it.
 *
 * ```ts
 * console.log(formatPlan(await planMigration(db)));
 * ```
 *
 * @throws {ModelDroppedError} if a model was dropped, or the database emptied, after it was opened.
 * @throws {InvalidArgumentError} if the program has one of the models in `dropModels`, or lacks one
 * of those in `removeValues`.
 */
export async function planMigration(
  database: AnyDatabase,
  { dropModels = [], removeValues = [] }: PlanOptions = {},
): Promise<MigrationPlan> {
  const contexts = [...tableContexts(database).values()];
  const facts: ModelFacts[] = [];
  assertModels(removeValues, contexts);
  for (const context of contexts) {
    facts.push(await readFacts(context, removeValues.includes(context.model.name)));
  }
  const { databaseOnly, drops } = await planDatabaseModels(contexts, dropModels);
  return planModels(facts, databaseOnly, drops);
}

function assertModels(names: readonly string[], contexts: readonly TableContext[]): void {
  const unknown = names.find((name) => contexts.every(({ model }) => model.name !== name));
  if (unknown === undefined) return;
  const reason = `the program has no model ${JSON.stringify(unknown)}`;
  throw new InvalidArgumentError("", "removeValues", reason);
}

/**
 * @param databaseOnly models that only the database has.
 * @param drops the plans of models that are removed from the database.
 */
export function planModels(
  facts: readonly ModelFacts[],
  databaseOnly: readonly DatabaseModel[] = [],
  drops: readonly ModelPlan[] = [],
): MigrationPlan {
  const models = [...facts.map(planModel), ...drops];
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
  const { model, entry } = facts;
  const withId = (step: PlannedStep): MigrationStep => toStep(model.name, step);
  if (changesKey(facts)) {
    const { steps } = planModel(withStoredKey(facts));
    return { model: model.name, steps: keySteps(facts, steps).map(withId) };
  }
  const ofDerived = maintained.flatMap((kind) => kind.steps?.(facts) ?? []);
  const isPlanned = (name: string) => ofDerived.some(({ index }) => index === name);
  const moved = indexesAffectedByUpgrade(facts).filter(
    ({ name }) => !isPlanned(name) && isMaintained(entry.indexes[name]?.state ?? "absent"),
  );
  const steps = [
    ...planName(facts),
    ...planRelations(facts),
    ...planRows(facts, moved),
    ...planRemoval(facts),
    ...ofDerived,
  ].map(withId);
  return { model: model.name, steps: [...keySteps(facts, steps).map(withId), ...steps] };
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
