import type * as z from "zod";
import type { Model, PrimaryKeyField } from "./model.js";

/**
 * Instead of a plain value: what is to become of a field. An object that is itself a value goes into `set`. `Absent` is what
 * undefined extends where a row may be without the field.
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
 * Elements of an array → what `push` takes: one of them or a list of them, for an array is always the list. Only a list
 * where an element may be an array itself.
 */
type PushInput<E> = unknown extends E
  ? readonly E[]
  : [Extract<E, readonly unknown[]>] extends [never]
    ? E | readonly E[]
    : readonly E[];

/**
 * Model → what `update` takes: the fields to change, each as a value or as an operation: `{ increment: 1 }` of a number,
 * `{ push: "x" }` of an array, `{ unset: true }` of an optional field or one of a `catchall`, `{ set: value }` of any. A
 * field that is absent or undefined stays as it is.
 */
export type UpdateInput<M extends Model> = {
  readonly [F in keyof z.input<M["schema"]> as Exclude<F, PrimaryKeyField<M>>]?:
    | z.input<M["schema"]>[F]
    | FieldOperation<
        z.input<M["schema"]>[F],
        F extends keyof z.output<M["schema"]> ? z.output<M["schema"]>[F] : never,
        string extends F ? undefined : z.input<M["schema"]>[F]
      >
    | undefined;
};
