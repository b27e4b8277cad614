import type { FieldOf } from "../indexes/field-types.js";
import type { Model, Row } from "../model.js";

/** Model → the types of its computed fields. */
export type ComputedOf<M extends Model> = {
  -readonly [F in keyof NonNullable<M["computed"]>]: NonNullable<M["computed"]>[F] extends (
    row: never,
  ) => infer V
    ? V
    : never;
};

/** Model → the names of its computed fields. */
type ComputedName<M extends Model> = keyof NonNullable<M["computed"]> & string;

/** Model → the names of what `select` can name: fields and computed fields. */
export type ResultField<M extends Model> = FieldOf<Row<M>> | ComputedName<M>;

/** Model → a row as reads and writes return it: the stored row, with its computed fields. */
export type ResultRow<M extends Model> = [ComputedName<M>] extends [never]
  ? Row<M>
  : Flat<Row<M> & ComputedOf<M>>;

type Flat<T> = { [K in keyof T]: T[K] } & {};
