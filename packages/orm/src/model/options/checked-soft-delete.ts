import type { FieldOf } from "../indexes/index-definition.js";
import type { CannotMark } from "../type-errors.js";

/**
 * Row, `softDelete` → unknown if it names a date that rows may lack, or is not known to the
 * compiler. Otherwise a type error.
 */
export type CheckedSoftDelete<Row, F> = [F] extends [undefined]
  ? unknown
  : string extends F
    ? unknown
    : [F] extends [DateThatRowsMayLack<Row>]
      ? unknown
      : {
          readonly softDelete: CannotMark<
            F,
            "softDelete needs a nullable or optional date of the schema: deletedAt: z.date().nullable().default(null)"
          >;
        };

/** Row → the names of its dates that may be null or undefined. */
type DateThatRowsMayLack<Row> = {
  [F in FieldOf<Row>]-?: [Exclude<Row[F], null | undefined>] extends [Date]
    ? [Extract<Row[F], null | undefined>] extends [never]
      ? never
      : F
    : never;
}[FieldOf<Row>];
