declare const untold: unique symbol;

/** Replaces the forms of a type if there are too many to check, or if their order is not known. */
export interface TooManyForms {
  readonly [untold]: true;
}

/** Union of objects → the fields of all its members. */
export type KeyOfEach<T> = T extends unknown ? keyof T : never;

/** Object → its optional properties. */
type OptionalKey<T> = {
  [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never;
}[keyof T];

/**
 * Object → its optional properties that can have a value. TypeScript adds `b?: undefined` to an
 * object literal if another member of its union has `b`; such a property does not count.
 */
type OpenKey<T> = {
  [K in OptionalKey<T>]: [Required<T>[K]] extends [never] ? never : K;
}[OptionalKey<T>];

/**
 * Object → a union of the objects that it may be, with and without each of its optional properties.
 * `{ a: 1; b?: 2 }` → `{ a: 1 } | { a: 1; b: 2 }`. `TooManyForms` if there are more than 16.
 */
export type Forms<T> = T extends unknown
  ? [OptionalKey<T>] extends [never]
    ? T
    : Form<T, Subsets<OpenKey<T>>>
  : never;

/** Object, one of its {@link Subsets} → the object with these optional properties and no other. */
type Form<T, Chosen> = Chosen extends readonly [infer Keys]
  ? { readonly [K in (Exclude<keyof T, OptionalKey<T>> | Keys) & keyof T]: Required<T>[K] }
  : Chosen;

/** Union → a union of its subsets, each in a list of one. `TooManyForms` beyond four members. */
type Subsets<All, Chosen = never, Depth extends readonly unknown[] = [], Next = All> =
  | [Chosen]
  | (Next extends unknown
      ? Depth["length"] extends 4
        ? TooManyForms
        : Subsets<Exclude<All, Next>, Chosen | Next, [...Depth, Next]>
      : never);

/**
 * `orderBy` → a union of the orders that it may be, each in a list. `TooManyForms` for a list of
 * unknown length that has several fields.
 */
export type OrderForms<O> = O extends readonly unknown[]
  ? number extends O["length"]
    ? [] | OneField<KeyOfEach<O[number]>, O[number]>
    : ListForms<O>
  : Forms<O> extends infer Form
    ? Form extends TooManyForms
      ? Form
      : Form extends unknown
        ? [Form]
        : never
    : never;

/** Fields, list elements → the forms of one element if all have the same field. */
type OneField<F, Each> = [F] extends [
  (F extends unknown ? (field: F) => void : never) extends (field: infer Only) => void
    ? Only
    : never,
]
  ? [Forms<Each>]
  : TooManyForms;

type ListForms<O extends readonly unknown[]> = O extends readonly [infer First, ...infer Others]
  ? Forms<First> extends infer Form
    ? Form extends TooManyForms
      ? Form
      : ListForms<Others> extends infer Rest
        ? Rest extends readonly unknown[]
          ? Form extends unknown
            ? [Form, ...Rest]
            : never
          : Rest
        : never
    : never
  : O extends readonly []
    ? []
    : TooManyForms;
