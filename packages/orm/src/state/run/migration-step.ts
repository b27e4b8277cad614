import type { StepClass } from "../schema/upgrade/compare-rows.js";

export type StepKind =
  | "register"
  | "rename-model"
  | "drop-model"
  | "add-relation"
  | "change-relation"
  | "drop-relation"
  | "fill-copies"
  | "add-field"
  | "change-field"
  | "remove-field"
  | "remove-values"
  | "change-primary-key"
  | "transform-rows"
  | "rename-index"
  | "drop-index"
  | "rebuild-index"
  | "build-index"
  | "resolve-duplicates"
  | "drop-counter"
  | "build-counter";

/** One step of a migration, as plain data. */
export interface MigrationStep {
  /**
   * Identifies the step. It is the same in each plan, for example `"users.byEmail: build-index"`.
   */
  readonly id: string;
  readonly model: string;
  readonly class: StepClass;
  readonly kind: StepKind;
  readonly index?: string;
  readonly field?: string;
  /** `""` for the counter of all rows, otherwise the name of the index whose keys are counted. */
  readonly counter?: string;
  /**
   * Set if what is removed, a field, an index or a model, may have been renamed: the name of the
   * only new one that is otherwise the same.
   */
  readonly renamedTo?: string;
  /** With `renamedTo`: the prefix with which the renamed index or model keeps its entries. */
  readonly prefix?: string;
  /**
   * Set if nothing but the code of an index's functions differs. If they return the same,
   * `recordSameFunctions` keeps the entries.
   */
  readonly onlyFunctions?: boolean;
  /** True if programs without this change can write while programs with it do. */
  readonly sideBySide: boolean;
  /** Sentences for people about the change and its reason. */
  readonly reason: string;
  /** Set if the step cannot run yet: what has to be done first, as text for people. */
  readonly blocked?: string;
}

/** A step before its `id` and `model` are added. */
export interface PlannedStep extends Omit<MigrationStep, "id" | "model"> {
  /** The part of the id between the model and the kind, if it is neither an index nor a field. */
  readonly of?: string;
}

/** Adds its model and its id to a step, and ends its reason with a full stop. */
export function toStep(model: string, { of, ...planned }: PlannedStep): MigrationStep {
  const { reason } = planned;
  const step = { ...planned, reason: reason.endsWith(".") ? reason : `${reason}.` };
  const place = step.index ?? step.field ?? of;
  const id = `${place === undefined ? model : `${model}.${place}`}: ${step.kind}`;
  return { id, model, ...step };
}
