import type * as z from "zod";
import type { Model, PrimaryKeyField } from "../model.js";
import type { NoComputed } from "../options/computed-types.js";
import type { NoCopies } from "../relations/copied-types.js";

/**
 * An operation on a field, in place of a plain value. A value that is itself an object with such a
 * property has to be wrapped in `set`. `unset` is allowed if `undefined` extends `Absent`, which
 * means that a row may lack the field.
 */
export type FieldOperation<Input, Output, Absent = Input> =
  | { readonly set: Input }
  | (NonNullable<Output> extends number
      ? { readonly increment: number }
      : NonNullable<Output> extends bigint
        ? { readonly increment: bigint }
        : never)
  | (NonNullable<Input> extends readonly (infer E)[] ? { readonly push: PushInput<E> } : never)
  | (undefined extends Absent ? { readonly unset: true } : never);

/**
 * Element of an array → the input of `push`: one element or a list of elements. An array is always
 * taken as the list. If elements may be arrays themselves, only a list is allowed.
 */
type PushInput<E> = unknown extends E
  ? readonly E[]
  : [Extract<E, readonly unknown[]>] extends [never]
    ? E | readonly E[]
    : readonly E[];

/**
 * Model → the input of `update`: the fields to change, each as a value or as an operation. The
 * operations are `{ increment: 1 }` for numbers and bigints, `{ push: "x" }` for arrays,
 * `{ unset: true }` for optional fields and for those of a `catchall`, and `{ set: value }` for all
 * fields. A field that is absent or undefined stays as it is.
 */
export type UpdateInput<M extends Model> = FieldChanges<M> &
  NoComputed<M["computed"]> &
  NoCopies<M["relations"]>;

type FieldChanges<M extends Model> = {
  readonly [F in keyof z.input<M["schema"]> as Exclude<F, PrimaryKeyField<M>>]?:
    | z.input<M["schema"]>[F]
    | FieldOperation<
        z.input<M["schema"]>[F],
        F extends keyof z.output<M["schema"]> ? z.output<M["schema"]>[F] : never,
        string extends F ? undefined : z.input<M["schema"]>[F]
      >
    | undefined;
};
