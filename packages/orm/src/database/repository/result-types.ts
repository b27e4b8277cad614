import type { RowId } from "../../errors/orm-error.js";
import type { AnyModels, Model, Row } from "../../model/model.js";
import type { BelongsTo, HasOne, Relation } from "../../model/relations/relation-definition.js";
import type { ResultField, ResultRow } from "../../model/rows/result-row.js";
import type { ModelNamed } from "./include-types.js";

/** A row with its versionstamp, which a later write can pass as `ifVersion`. */
export interface Versioned<T> {
  readonly row: T;
  /** 20 hexadecimal digits. */
  readonly versionstamp: string;
}

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
  ? Versioned<Loaded<M, Models, S, I>>
  : Loaded<M, Models, S, I>;

type Loaded<M extends Model, Models extends AnyModels, S, I> = undefined extends I
  ? Loaded<M, Models, S, Partial<Exclude<I, undefined>>>
  : string extends keyof I
    ? Picked<M, S>
    : [keyof I] extends [never]
      ? Picked<M, S>
      : Flat<Picked<M, S> & Relations<M, Models, I>>;

type Picked<M extends Model, S> = [ResultField<M>] extends [S]
  ? ResultRow<M>
  : Flat<Pick<ResultRow<M>, S & keyof ResultRow<M>>>;

/** Intersection → one object type with all of its properties, which editors show in full. */
type Flat<T> = { [K in keyof T]: T[K] } & {};

/** Model, models, `include` → the properties that relations add, optional if not surely loaded. */
type Relations<M extends Model, Models extends AnyModels, I> = [I[keyof I]] extends [true | object]
  ? AllRelations<M, Models, I>
  : AllRelations<M, Models, Pick<I, AlwaysLoaded<I>>> &
      Partial<AllRelations<M, Models, MaybeLoaded<I>>>;

type AllRelations<M extends Model, Models extends AnyModels, I> = {
  -readonly [R in keyof I]: R extends keyof M["relations"]
    ? Related<M, M["relations"][R], Models, I[R]>
    : R extends "_count"
      ? { -readonly [N in keyof I[R]]: number }
      : never;
};

/** `include` → the relations that are certainly loaded: their value is never undefined or false. */
export type AlwaysLoaded<I> = {
  [R in keyof I]-?: [I[R]] extends [true | object] ? R : never;
}[keyof I];

/** `include` → the relations that may be loaded, with their values. */
export type MaybeLoaded<I> = {
  [R in Exclude<keyof I, AlwaysLoaded<I>> as [I[R]] extends [false | undefined]
    ? never
    : R]: Exclude<I[R], false | undefined>;
};

/** Model, its relation, models, value in `include` → the property of the row for that relation. */
type Related<M extends Model, R extends Relation, Models extends AnyModels, Q> = R extends BelongsTo
  ? RelatedRow<ModelNamed<Models, R["model"]>, Models, Q> | AbsentWith<Row<M>, R["fields"][number]>
  : R extends HasOne
    ? RelatedRow<ModelNamed<Models, R["model"]>, Models, Q> | null
    : RelatedRow<ModelNamed<Models, R["model"]>, Models, Q>[];

/** Row, fields of a reference → null if the reference may be absent. */
type AbsentWith<R, F> = F extends keyof R
  ? undefined extends R[F]
    ? null
    : null extends R[F]
      ? null
      : never
  : never;

type RelatedRow<M extends Model, Models extends AnyModels, Q> = Q extends unknown
  ? Loaded<
      M,
      Models,
      "select" extends keyof Q ? SelectedField<M, Q["select"]> : ResultField<M>,
      "include" extends keyof Q ? Q["include"] : Record<never, never>
    >
  : never;

/** Model, `select` → the fields that are certainly returned. */
type SelectedField<M extends Model, S> = [S] extends [undefined]
  ? ResultField<M>
  : AlwaysSelected<Exclude<S, undefined>>;

/** `select` → its fields that are neither optional nor possibly undefined. */
export type AlwaysSelected<S> = { [F in keyof S]-?: [S[F]] extends [true] ? F : never }[keyof S];
