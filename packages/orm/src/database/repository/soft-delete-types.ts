import type { AnyModels, Model, PrimaryKeyFields } from "../../model/model.js";
import type { ResultField } from "../../model/rows/result-row.js";
import type { NoSoftDelete } from "../../model/type-errors.js";
import type { IndexedValue } from "../../query/types/key-path-types.js";
import type { ShapeOptions } from "./query-options.js";

/** Model → unknown if it has `softDelete`. Otherwise an object with a type error for an option. */
type OfSoftDelete<M extends Model, Option extends string> = [NonNullable<M["softDelete"]>] extends [
  never,
]
  ? {
      readonly [O in Option]?: NoSoftDelete<"the model has no softDelete, so a delete removes its rows; declare softDelete">;
    }
  : unknown;

/** Returns also rows that are marked as deleted. D is the value. */
export type DeletedOption<M extends Model, D> = {
  /**
   * Return also rows that are marked as deleted. Indexes leave them out, so the query must name the
   * primary key, or read in its order.
   */
  readonly withDeleted?: D;
} & OfSoftDelete<M, "withDeleted">;

/** Model, `withDeleted` → the model, without its indexes if deleted rows are read too. */
export type Listed<M extends Model, D> = true extends D ? WithoutIndexes<M> : M;

type WithoutIndexes<M extends Model> = Model<
  M["name"],
  M["schema"],
  M["primaryKey"],
  Record<never, never>,
  M["relations"]
>;

/** Model → values for all fields of its primary key. */
export type PrimaryKeyWhere<M extends Model> = {
  readonly [F in PrimaryKeyFields<M>[number] & string]: IndexedValue<M, F>;
};

/** The argument of `restore`. */
export type RestoreOptions<
  M extends Model,
  Models extends AnyModels,
  S extends ResultField<M>,
  I,
  V,
> = ShapeOptions<M, Models, S, I, V> & {
  /** The primary key of the row. */
  readonly where: PrimaryKeyWhere<M>;
  /**
   * Restore also the rows that the deletion of the row has marked with it. Rows that were deleted
   * before stay deleted.
   */
  readonly cascade?: boolean | undefined;
  /** The versionstamp that the row must have. If it has another one, nothing is written. */
  readonly ifVersion?: string | undefined;
} & OfSoftDelete<M, "where">;

/** The argument of `purge`: one deleted row, or those that were deleted before a time. */
export type PurgeOptions<M extends Model> = (
  | {
      /** The primary key of the row. */
      readonly where: PrimaryKeyWhere<M>;
      readonly before?: undefined;
    }
  | {
      /** Rows that were deleted before this time are removed. */
      readonly before: Date;
      readonly where?: undefined;
    }
) &
  OfSoftDelete<M, "where" | "before">;
