import type { RowId } from "../../../errors/orm-error.js";
import type { AnyModels, Model, Row } from "../../../model/model.js";
import type { BelongsTo, HasOne, Relation } from "../../../model/relations/relation-definition.js";
import type { ResultField, ResultRow } from "../../../model/rows/result-row.js";
import type { ModelNamed } from "../options/include-types.js";
import type { RelatedRow, RelatedRows } from "./related-types.js";
import type { Flat, Versioned, WithIncluded } from "./shape-types.js";

/** The result for one of many rows. */
export type RowOutcome<T> = WrittenOutcome<T> | FailedOutcome;

/** The result for one of the rows of `createMany`. */
export type CreationOutcome<T> =
  | WrittenOutcome<T>
  | (FailedOutcome & {
      /** The position in `data`, from 0. `skipDuplicates` leaves results of other rows out. */
      readonly position: number;
    });

interface WrittenOutcome<T> {
  readonly ok: true;
  readonly row: T;
  /** The error of a hook after the write. The row is written in any case. */
  readonly hookError?: unknown;
}

interface FailedOutcome {
  readonly ok: false;
  /** The primary key of the row, if the row existed before. */
  readonly id?: RowId;
  readonly error: unknown;
}

/** The result of writing many rows. */
export interface ManyResult<T, Outcome = RowOutcome<T>> {
  /** How many rows were written. */
  readonly count: number;
  /** The result of each row, in the order of the data or of the query. */
  readonly results: readonly Outcome[];
}

/** The result of `createMany`. */
export interface CreatedMany<T, Outcome = CreationOutcome<T>> extends ManyResult<T, Outcome> {
  /**
   * How many rows `skipDuplicates` has left out, because their primary key or unique values exist.
   * `results` does not contain them.
   */
  readonly skipped: number;
}

/** Row type, true if the write was atomic → the result of `createMany`. */
export type CreatedRows<T, Atomic> = [Atomic] extends [true]
  ? CreatedMany<T, { readonly ok: true; readonly row: T }>
  : CreatedMany<T>;

/** Row type, true if the write was atomic → its result. Of an atomic write, no row has failed. */
export type ManyRows<T, Atomic> = [Atomic] extends [true]
  ? ManyResult<T, { readonly ok: true; readonly row: T }>
  : ManyResult<T>;

/**
 * Model, selected fields, `include`, `withVersionstamp` → a row as a method returns it. If all
 * fields are selected, the result is the row's own type. `{}` includes no relations.
 */
export type Shaped<M extends Model, Models extends AnyModels, S, I, V> = V extends true
  ? Versioned<WithIncluded<Picked<M, S>, RelationsOf<M, Models>, I>>
  : WithIncluded<Picked<M, S>, RelationsOf<M, Models>, I>;

type Picked<M extends Model, S> = [ResultField<M>] extends [S]
  ? ResultRow<M>
  : Flat<Pick<ResultRow<M>, S & keyof ResultRow<M>>>;

/** Model → its relations. A related model is looked at when a row of it is included. */
type RelationsOf<M extends Model, Models extends AnyModels> = {
  readonly [R in keyof M["relations"]]: RelationOf<M, M["relations"][R], Models>;
};

type RelationOf<M extends Model, R extends Relation, Models extends AnyModels> = R extends BelongsTo
  ? RelatedTo<ModelNamed<Models, R["model"]>, Models, AbsentWith<Row<M>, R["fields"][number]>>
  : R extends HasOne
    ? RelatedTo<ModelNamed<Models, R["model"]>, Models, null>
    : RelatedToMany<ModelNamed<Models, R["model"]>, Models>;

type RelatedTo<M extends Model, Models extends AnyModels, Absent> = RelatedRow<
  ResultRow<M>,
  RelationsOf<M, Models>,
  Absent
>;

type RelatedToMany<M extends Model, Models extends AnyModels> = RelatedRows<
  ResultRow<M>,
  RelationsOf<M, Models>
>;

/** Row, fields of a reference → null if the reference may be absent. */
type AbsentWith<R, F> = F extends keyof R
  ? undefined extends R[F]
    ? null
    : null extends R[F]
      ? null
      : never
  : never;
