import type { FieldOf } from "../../model/indexes/field-types.js";
import type { Model, Row } from "../../model/model.js";
import type { UnknownField } from "../../model/type-errors.js";
import type { IndexedField } from "./key-path-types.js";

/** Model, names → those that are neither fields nor computed parts of its indexes. */
export type UnknownName<M extends Model, Names> = Exclude<Names, FieldOf<Row<M>> | IndexedField<M>>;

/** Model, names → an object with a type error for each name that is not a field. */
export type UnknownFields<M extends Model, Names> = {
  readonly [F in UnknownName<M, Names> & string]: F extends "AND" | "NOT"
    ? UnknownField<
        F,
        "conditions hold all together: for one of several values take { in: [...] } or OR, for what no index serves filter"
      >
    : UnknownField<F, "the model has no such field">;
};
