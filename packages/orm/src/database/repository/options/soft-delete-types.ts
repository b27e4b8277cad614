import type { AnyModels, Model, PrimaryKeyFields } from "../../../model/model.js";
import type { NoSoftDelete } from "../../../model/type-errors.js";
import type { IndexedValue } from "../../../read/types/key-path-types.js";
import type { ShapeOptions } from "./query-options.js";

/** Model → true if it has `softDelete`. */
type IsMarked<M extends Model> = [NonNullable<M["softDelete"]>] extends [never] ? false : true;

/** The type error for a model whose deleted rows are not marked. */
type NotMarked =
  NoSoftDelete<"the model has no softDelete, so a delete removes its rows; declare softDelete">;

/** Returns also rows that are marked as deleted. */
export interface DeletedOption<M extends Model> {
  /**
   * Return also rows that are marked as deleted. Indexes leave them out, so the query must name the
   * primary key, or read in its order.
   */
  readonly withDeleted?: IsMarked<M> extends true ? boolean : NotMarked;
}

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
export interface RestoreOptions<M extends Model, Models extends AnyModels>
  extends ShapeOptions<M, Models> {
  /** The primary key of the row. */
  readonly where: IsMarked<M> extends true ? PrimaryKeyWhere<M> : NotMarked;
  /**
   * Restore also the rows that the deletion of the row has marked with it. Rows that were deleted
   * before stay deleted.
   */
  readonly cascade?: boolean | undefined;
  /** The versionstamp that the row must have. If it has another one, nothing is written. */
  readonly ifVersion?: string | undefined;
}

/** The argument of `purge`: one deleted row, or those that were deleted before a time. */
export type PurgeOptions<M extends Model> =
  | {
      /** The primary key of the row. */
      readonly where: IsMarked<M> extends true ? PrimaryKeyWhere<M> : NotMarked;
      readonly before?: undefined;
    }
  | {
      /** Rows that were deleted before this time are removed. */
      readonly before: IsMarked<M> extends true ? Date : NotMarked;
      readonly where?: undefined;
    };
