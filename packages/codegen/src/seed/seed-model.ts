import type { CompiledModel } from "@keywright/orm/codegen";
import type { SeedFields } from "../project/config/config.js";

export type AnyRow = Readonly<Record<string, unknown>>;

/** A model whose rows are generated, or to whose rows others refer. */
export interface SeedModel {
  readonly model: CompiledModel;
  /** Its name in `--rows`, in the setting `seed` and in the database. */
  readonly property: string;
  readonly count: number;
  /** True if the count is for this model. Then it is an error if there are fewer rows. */
  readonly isCountNamed: boolean;
  /** The fields that the setting `seed` fills. */
  readonly fields: SeedFields;
  readonly references: readonly Reference[];
}

/** Fields that hold the primary key of a row of another model, or of the same one. */
export interface Reference {
  readonly fields: readonly string[];
  /** The name of the other model. */
  readonly target: string;
  readonly targetKey: readonly string[];
  /** True if a row may lack it. */
  readonly isOptional: boolean;
}

/** The rows to which others can refer, by the name of their model. */
export type Parents = ReadonlyMap<string, readonly AnyRow[]>;
