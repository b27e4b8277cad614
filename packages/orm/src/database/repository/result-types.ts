import type { RowId } from "../../errors/orm-error.js";
import type { FieldOf } from "../../model/index-definition.js";
import type { AnyModels, Model, Row } from "../../model/model.js";
import type { BelongsTo, HasOne, Relation } from "../../model/relation-definition.js";
import type { ModelNamed } from "./include-types.js";

/** A row with its versionstamp, for a write under `ifVersion`. */
export interface Versioned<T> {
  readonly row: T;
  /** 20 hexadecimal digits. */
  readonly versionstamp: string;
}

/** What has become of one of many rows. */
export type RowOutcome<T> =
  | {
      readonly ok: true;
      readonly row: T;
      /** What a hook after the write threw; absent where none did. The row is written all the same. */
      readonly hookError?: unknown;
    }
  | {
      readonly ok: false;
      /** The row's primary key, where it was there before. */
      readonly id?: RowId;
      readonly error: unknown;
    };

/** What has become of many rows. */
export interface ManyResult<T, Outcome = RowOutcome<T>> {
  /** How many rows were written. */
  readonly count: number;
  /** What became of each, in the order of the data or of the query. */
  readonly results: readonly Outcome[];
}

/** Whether it was atomic → what has become of many rows: where one commit wrote all, none failed. */
export type ManyRows<T, Atomic> = [Atomic] extends [true]
  ? ManyResult<T, { readonly ok: true; readonly row: T }>
  : ManyResult<T>;

/**
 * Model, selected fields, `include`, `withVersionstamp` → a row as a method returns it. All fields selected is the row
 * as it is; `{}` includes nothing.
 */
export type Shaped<M extends Model, Models extends AnyModels, S, I, V> = V extends true
  ? Versioned<Loaded<M, Models, S, I>>
  : Loaded<M, Models, S, I>;

type Loaded<M extends Model, Models extends AnyModels, S, I> = undefined extends I
  ? Loaded<M, Models, S, Partial<Exclude<I, undefined>>>
  : string extends keyof I
    ? Picked<Row<M>, S>
    : [keyof I] extends [never]
      ? Picked<Row<M>, S>
      : Flat<Picked<Row<M>, S> & Relations<M, Models, I>>;

type Picked<R, S> = [FieldOf<R>] extends [S] ? R : Flat<Pick<R, S & keyof R>>;

/** Properties of an intersection → one object with them, which is how editors show it then. */
type Flat<T> = { [K in keyof T]: T[K] } & {};

/** What is added to a row: of each relation its rows, which are optional where it may be that it is not loaded. */
type Relations<M extends Model, Models extends AnyModels, I> = [I[keyof I]] extends [true | object]
  ? AllRelations<M, Models, I>
  : AllRelations<M, Models, Pick<I, SurelyLoaded<I>>> &
      Partial<AllRelations<M, Models, MaybeLoaded<I>>>;

type AllRelations<M extends Model, Models extends AnyModels, I> = {
  -readonly [R in keyof I]: R extends keyof M["relations"]
    ? Related<M, M["relations"][R], Models, I[R]>
    : never;
};

/** `include` → the relations of which it is neither undefined nor false, nor may be. */
type SurelyLoaded<I> = {
  [R in keyof I]-?: [I[R]] extends [true | object] ? R : never;
}[keyof I];

/** `include` → the other relations, as they are where they are loaded; without those that cannot be. */
type MaybeLoaded<I> = {
  [R in Exclude<keyof I, SurelyLoaded<I>> as [I[R]] extends [false | undefined]
    ? never
    : R]: Exclude<I[R], false | undefined>;
};

/** Model, its relation, what `include` says of it → what the row has under the relation's name. */
type Related<M extends Model, R extends Relation, Models extends AnyModels, Q> = R extends BelongsTo
  ? RelatedRow<ModelNamed<Models, R["model"]>, Models, Q> | AbsentWith<Row<M>, R["fields"][number]>
  : R extends HasOne
    ? RelatedRow<ModelNamed<Models, R["model"]>, Models, Q> | null
    : RelatedRow<ModelNamed<Models, R["model"]>, Models, Q>[];

/** Row, fields of a reference → null where a row may have no reference. */
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
      "select" extends keyof Q ? SelectedField<M, Q["select"]> : FieldOf<Row<M>>,
      "include" extends keyof Q ? Q["include"] : Record<never, never>
    >
  : never;

/** Model, `select` → the fields that are surely returned. */
type SelectedField<M extends Model, S> = [S] extends [undefined]
  ? FieldOf<Row<M>>
  : SurelySelected<Exclude<S, undefined>>;

/** `select` → its fields that are neither optional nor may be undefined. */
type SurelySelected<S> = { [F in keyof S]-?: [S[F]] extends [true] ? F : never }[keyof S];
