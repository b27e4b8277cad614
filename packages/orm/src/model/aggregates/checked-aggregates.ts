import type { FieldOf, KeyField, SummableField } from "../indexes/field-types.js";
import type { DecimalField } from "./decimal.js";

/**
 * Row, `sum`, `min` and `max` of a model → unknown if the model has none of them. Otherwise the
 * fields that they can contain.
 */
export type CheckedAggregates<Row, Sum, Min, Max> = [Sum | Min | Max] extends [undefined]
  ? unknown
  : {
      readonly sum?: readonly (SummableField<Row> | DecimalField<FieldOf<Row>>)[] | undefined;
      readonly min?: readonly KeyField<Row>[] | undefined;
      readonly max?: readonly KeyField<Row>[] | undefined;
    };
