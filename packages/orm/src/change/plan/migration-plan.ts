import type { CompiledModel } from "../../model/compiled-model.js";
import type { CatalogEntry } from "../../state/catalog/catalog-entry.js";
import type { RowMigration } from "../../state/schema/define-migration.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import type { StepClass } from "../../state/schema/upgrade/compare-rows.js";

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

/** The facts from which the plan of a model is made. */
export interface ModelFacts {
  readonly model: CompiledModel;
  readonly entry: CatalogEntry;
  /** The manifest that `entry.schema` names; undefined if there is none. */
  readonly storedRow: RowManifest | undefined;
  /** True if the database has had the program's schema, and has a newer one. */
  readonly isOlder?: boolean;
  /** True if the values of removed fields are to be removed from the rows. */
  readonly removesValues?: boolean;
  /** The program's `belongsTo` relations, as `relationTexts` returns them. */
  readonly relations: readonly string[];
  /**
   * The manifests of the rows that running transforms have not reached yet, oldest first. Undefined
   * for one that the database does not have.
   */
  readonly earlierRows: readonly (RowManifest | undefined)[];
  readonly migrations: readonly RowMigration[];
  /** What prevents a change of the primary key and is not in the catalog entry. */
  readonly keyObstacle?: string | undefined;
}

/** A step before its `id` and `model` are added. */
export interface PlannedStep extends Omit<MigrationStep, "id" | "model"> {
  /** The part of the id between the model and the kind, if it is neither an index nor a field. */
  readonly of?: string;
}
