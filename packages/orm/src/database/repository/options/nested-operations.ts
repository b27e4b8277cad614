import type { CannotWriteNested } from "../../../model/type-errors.js";

// The operations of nested writes on the rows of a relation. Generated code supplies the types of
// their data, and `nested-types.ts` infers them.

/** One item, or a list of items. */
type OneOrMany<T> = T | readonly T[];

interface NamedOrNew<Create, Unique> {
  readonly where: Unique;
  readonly create: Create;
}

/** The row to create or to connect with a new row. */
export interface NestedRow<Create, Unique> {
  /** Create the row to which the relation leads. */
  readonly create?: Create | undefined;
  /** Let the relation lead to an existing row. */
  readonly connect?: Unique | undefined;
  /** Let the relation lead to the row with a key, which is created if it does not exist. */
  readonly connectOrCreate?: NamedOrNew<Create, Unique> | undefined;
}

/** The same for a relation to many rows. */
export interface NestedRows<Create, Unique> {
  /** Create rows to which the relation leads. */
  readonly create?: OneOrMany<Create> | undefined;
  /** Let the relation lead to existing rows. */
  readonly connect?: OneOrMany<Unique> | undefined;
  /** Let the relation lead to rows with these keys. Those that do not exist are created. */
  readonly connectOrCreate?: OneOrMany<NamedOrNew<Create, Unique>> | undefined;
}

/**
 * The changes of the row to which a relation leads. `Reference` is the type of the fields that
 * refer to the other row, and `Deleted` that of `delete`.
 */
export interface NestedRowChange<
  Create,
  Update,
  Unique,
  Reference,
  Deleted = IfClearable<Reference>,
> extends NestedRow<Create, Unique> {
  /** Empty the reference. The row stays. */
  readonly disconnect?: IfClearable<Reference> | undefined;
  /** Delete the row. */
  readonly delete?: Deleted | undefined;
  /** Change the row. */
  readonly update?: Update | undefined;
  /** Change the row, or create it if there is none. */
  readonly upsert?: { readonly create: Create; readonly update: Update } | undefined;
}

/** The same for a relation to many rows. */
export interface NestedRowsChange<Create, Update, Unique, Reference = null>
  extends NestedRows<Create, Unique> {
  /** Let the relation lead to these rows, and no longer to any others. */
  readonly set?: IfClearable<Reference, OneOrMany<Unique>> | undefined;
  /** Let the relation no longer lead to these rows. They stay. */
  readonly disconnect?: IfClearable<Reference, OneOrMany<Unique>> | undefined;
  /** Delete these rows. The relation must lead to them. */
  readonly delete?: OneOrMany<Unique> | undefined;
  /** Change rows to which the relation leads. */
  readonly update?: OneOrMany<{ readonly where: Unique; readonly data: Update }> | undefined;
  /** Change rows to which the relation leads, or create them if it does not lead to them. */
  readonly upsert?:
    | OneOrMany<{ readonly where: Unique; readonly create: Create; readonly update: Update }>
    | undefined;
}

/** Type of a reference → the type `T` if the reference can be empty, otherwise a type error. */
export type IfClearable<Reference, T = true> = [Extract<Reference, null | undefined>] extends [
  never,
]
  ? CannotWriteNested<"its field cannot be empty; connect the row to another one, or delete it">
  : T;
