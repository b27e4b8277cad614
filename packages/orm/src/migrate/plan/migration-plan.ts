import type { CatalogEntry } from "../../catalog/catalog-entry.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { StepClass } from "../../schema/compare-rows.js";
import type { RowMigration } from "../../schema/define-migration.js";
import type { RowManifest } from "../../schema/manifest.js";

/** What a step does. */
export type StepKind =
  | "register"
  | "rename-model"
  | "add-relation"
  | "change-relation"
  | "drop-relation"
  | "add-field"
  | "change-field"
  | "remove-field"
  | "change-primary-key"
  | "transform-rows"
  | "rename-index"
  | "drop-index"
  | "rebuild-index"
  | "build-index"
  | "resolve-duplicates"
  | "drop-counter"
  | "build-counter";

/** A step of a migration. It is plain data. */
export interface MigrationStep {
  /** The same for the same step in each plan: `"users.byEmail: build-index"`. */
  readonly id: string;
  readonly model: string;
  readonly class: StepClass;
  readonly kind: StepKind;
  readonly index?: string;
  readonly field?: string;
  /** `""` for the count of all rows, else the name of the index whose keys' rows are counted. */
  readonly counter?: string;
  /** Programs without this change may go on writing beside those with it. */
  readonly sideBySide: boolean;
  /** A sentence or more, for people. */
  readonly reason: string;
  /** What has to be written first: the step cannot be done without it. */
  readonly blocked?: string;
}

/** The steps of a model, in the order in which they are done. */
export interface ModelPlan {
  readonly model: string;
  readonly steps: readonly MigrationStep[];
}

/** A model that a database has rows of, and that the program does not have. Nothing is done to it. */
export interface DatabaseModel {
  /** As it was called when it was last migrated; its prefix where no program has done that. */
  readonly model: string;
  readonly prefix: string;
  /** How many rows it has; absent where they are not counted. */
  readonly rows?: number;
}

/** What leads from a database as it is to the models of a program. It is plain data. */
export interface MigrationPlan {
  readonly models: readonly ModelPlan[];
  /** Of all models. */
  readonly steps: readonly MigrationStep[];
  /** Models that are in the database only. Their rows stay, and no step is about them. */
  readonly databaseOnly: readonly DatabaseModel[];
  /** There is no step. */
  readonly isEmpty: boolean;
  /** A step asks for somebody's word. */
  readonly isBreaking: boolean;
  /** A step is blocked until somebody has written a migration. */
  readonly needsMigration: boolean;
}

/** What a plan is made of. */
export interface ModelFacts {
  readonly model: CompiledModel;
  readonly entry: CatalogEntry;
  /** The manifest that `entry.schema` names; undefined where there is none. */
  readonly storedRow: RowManifest | undefined;
  /** The program's `belongsTo` relations, as `relationTexts` gives them. */
  readonly relations: readonly string[];
  /** The manifest of the rows that a change which is under way has not reached. */
  readonly earlierRow?: RowManifest | undefined;
  readonly migrations: readonly RowMigration[];
  /** How many rows keep a unique index from being readable, by the index's name. */
  readonly duplicates?: Readonly<Record<string, number>>;
  /** How many rows the model has, where that is known. */
  readonly rows?: number;
}

/** A step without what all steps of a model have. */
export interface PlannedStep extends Omit<MigrationStep, "id" | "model"> {
  /** What the id has between the model and the kind, where that is neither an index nor a field. */
  readonly of?: string;
}
