import type { MigrationStep } from "../../state/run/migration-step.js";

/**
 * The steps of a model, in the order of the formatted plan. A run drops indexes before it changes
 * rows.
 */
export interface ModelPlan {
  readonly model: string;
  readonly steps: readonly MigrationStep[];
}

/**
 * A model that the program does not have, but of which the database has rows. Migrations do not
 * change it.
 */
export interface DatabaseModel {
  /** The name when it was last migrated, or the prefix if no program has migrated it. */
  readonly model: string;
  readonly prefix: string;
  /** The number of its rows; absent if the database has no counter of them, or if they expire. */
  readonly rows?: number;
  /**
   * Set if the model may have been renamed: the only model of the program that has no rows and
   * could have these.
   */
  readonly renamedTo?: string;
}

/**
 * A change of a model that no step brings about, and that may matter. Runs are not refused for it.
 */
export interface PlanWarning {
  readonly model: string;
  /** Absent if it is about the rows as a whole. */
  readonly field?: string;
  /** Sentences for people. */
  readonly reason: string;
}

/** Fields that a model no longer has, and whose values its stored rows may still hold. */
export interface LeftValues {
  readonly model: string;
  /** `"profile.*"` stands for removed fields within the field `profile`. */
  readonly fields: readonly string[];
}

/** The steps that lead from a database to the models of a program, as plain data. */
export interface MigrationPlan {
  readonly models: readonly ModelPlan[];
  /** The steps of all models. */
  readonly steps: readonly MigrationStep[];
  /** Models that only the database has, and that are not dropped. Their rows stay. */
  readonly databaseOnly: readonly DatabaseModel[];
  /**
   * The values of removed fields that a run with `removeValues` can remove. Reads do not return
   * them.
   */
  readonly leftValues: readonly LeftValues[];
  /** Changes that the schemas as data do not show, such as another function of a refinement. */
  readonly warnings: readonly PlanWarning[];
  /** True if there are no steps. */
  readonly isEmpty: boolean;
  /** True if a step has to be accepted. */
  readonly isBreaking: boolean;
  /** True if a step is blocked, for example until a migration is written. */
  readonly needsMigration: boolean;
}

/** The plan of a run that has not made one. */
export const emptyPlan: MigrationPlan = {
  models: [],
  steps: [],
  databaseOnly: [],
  leftValues: [],
  warnings: [],
  isEmpty: true,
  isBreaking: false,
  needsMigration: false,
};
