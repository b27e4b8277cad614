import type { FieldOf } from "../indexes/field-types.js";
import type { CannotCompute, NotStored } from "../type-errors.js";

export type AnyComputed = Readonly<Record<string, unknown>>;

/** Row, types of computed fields → the functions that compute them. */
export type ComputedFunctions<R, Computed> = {
  readonly [F in keyof Computed]: ComputeField<R, Computed[F]>;
};

/**
 * Row, value → a function of a row. It is a method, so it also fits if less is known of the row.
 */
type ComputeField<R, V> = { compute(row: R): V }["compute"];

/** Type of a model, name of a computed field → the type of its value. For generated code. */
export type ComputedValue<M, Field extends string> = M extends {
  readonly computed?: { readonly [F in Field]: (row: never) => infer V };
}
  ? V
  : never;

/** The `computed` of a model → type errors for data that contains computed fields. */
export type NoComputed<Computed> = [keyof NonNullable<Computed>] extends [never]
  ? unknown
  : {
      readonly [F in keyof NonNullable<Computed> & string]?:
        | NotStored<F, "it is computed from the other fields; leave it out">
        | undefined;
    };

/** Row, relations, types of computed fields → type errors for those that cannot be. */
export type CheckedComputed<R, Relations, Computed> = {
  readonly [F in keyof Computed]: F extends FieldOf<R>
    ? CannotCompute<F, "the schema has a field of this name; rename one of them">
    : F extends keyof Relations | "_count"
      ? CannotCompute<F, "a relation has this name; rename one of them">
      : [
            Extract<Computed[F], PromiseLike<unknown> | symbol | ((...args: never) => unknown)>,
          ] extends [never]
        ? unknown
        : CannotCompute<F, "return a value that could be stored: no promise, symbol or function">;
};
