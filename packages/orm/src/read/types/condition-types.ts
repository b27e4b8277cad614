import type { KeyValue } from "../../model/indexes/field-types.js";

/**
 * This value. Unlike a value without `equals`, it is never read as a condition, so it is safe for
 * input from outside the program: see `docs/security.md`.
 */
export interface EqualsFilter<T> {
  readonly equals: T;
}

/** Bounds on a field. An index serves at most one lower and one upper bound. */
export interface RangeFilter<T> {
  readonly gt?: T;
  readonly gte?: T;
  readonly lt?: T;
  readonly lte?: T;
}

/** Both bounds of a field, inclusive. */
export interface BetweenFilter<T> {
  readonly between: readonly [T, T];
}

/** Strings that begin with this one. */
export interface StartsWithFilter {
  readonly startsWith: string;
}

/** One of these values. */
export interface InFilter<T> {
  readonly in: readonly T[];
}

/** Arrays with an element that meets the condition. */
export interface HasFilter<T> {
  readonly has: Condition<T>;
}

/** Type of a field's values → the conditions that `where` can have for it. */
export type Condition<T> =
  | T
  | EqualsFilter<T>
  | RangeFilter<T>
  | BetweenFilter<T>
  | InFilter<T>
  | ([Extract<T, string>] extends [never] ? never : StartsWithFilter);

/**
 * Type of a field's values, without undefined and null → the conditions that `where` can have for
 * it. The condition on an array is about its elements.
 */
export type FieldCondition<T> = [T] extends [readonly (infer E)[]]
  ? HasFilter<NonNullable<E>>
  : Condition<T>;

/**
 * A condition → its kind: `"equal"` for one value, `"in"` for a list of values, `"range"` for
 * bounds, `"absent"` for null. `"none"` if the type is not a condition that a key can serve.
 */
export type ConditionKind<C> = [C] extends [never]
  ? "equal"
  : [C] extends [null]
    ? "absent"
    : [C] extends [KeyValue]
      ? "equal"
      : KindOfEach<C>;

/** The same, for each member of a union. */
type KindOfEach<C> = C extends KeyValue
  ? "equal"
  : C extends { readonly has: infer Element }
    ? ConditionKind<Element>
    : C extends EqualsFilter<infer Value>
      ? keyof C extends "equals"
        ? ConditionKind<Value>
        : "none"
      : C extends InFilter<unknown>
        ? keyof C extends "in"
          ? "in"
          : "none"
        : C extends StartsWithFilter
          ? keyof C extends "startsWith"
            ? "range"
            : "none"
          : C extends BetweenFilter<unknown>
            ? keyof C extends "between"
              ? "range"
              : "none"
            : KindOfBounds<C>;

type KindOfBounds<C> = C extends object
  ? [keyof C] extends [never]
    ? "none"
    : [keyof C] extends ["gt" | "gte" | "lt" | "lte"]
      ? ["gt" | "gte"] extends [keyof C]
        ? "none"
        : ["lt" | "lte"] extends [keyof C]
          ? "none"
          : "range"
      : "none"
  : "none";
