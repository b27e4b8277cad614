declare const untold: unique symbol;

/** In place of forms that are too many, or whose order is not known, to judge each. */
export interface Untold {
  readonly [untold]: true;
}

/** Union of objects → the fields of all of them. */
export type KeyOfEach<T> = T extends unknown ? keyof T : never;

/** Object → its optional properties. */
type OptionalKey<T> = {
  [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never;
}[keyof T];

/** Object → its optional properties that can have a value, which those cannot that another member of a union has. */
type OpenKey<T> = {
  [K in OptionalKey<T>]: [Required<T>[K]] extends [never] ? never : K;
}[OptionalKey<T>];

/**
 * Object → a union of those without optional properties that it may be: with and without each of them. `Untold` where
 * that would be more than 16.
 */
export type Forms<T> = T extends unknown
  ? [OptionalKey<T>] extends [never]
    ? T
    : Form<T, Subsets<OpenKey<T>>>
  : never;

type Form<T, Chosen> = Chosen extends readonly [infer Keys]
  ? { readonly [K in (Exclude<keyof T, OptionalKey<T>> | Keys) & keyof T]: Required<T>[K] }
  : Chosen;

/** Union → a union of its subsets, each in a list. */
type Subsets<All, Chosen = never, Depth extends readonly unknown[] = [], Next = All> =
  | [Chosen]
  | (Next extends unknown
      ? Depth["length"] extends 4
        ? Untold
        : Subsets<Exclude<All, Next>, Chosen | Next, [...Depth, Next]>
      : never);

/** `orderBy` → a union of the orders that it may be, each in a list. `Untold` for a list of any length, of several fields. */
export type OrderForms<O> = O extends readonly unknown[]
  ? number extends O["length"]
    ? [] | OneField<KeyOfEach<O[number]>, O[number]>
    : ListForms<O>
  : Forms<O> extends infer Form
    ? Form extends Untold
      ? Form
      : Form extends unknown
        ? [Form]
        : never
    : never;

/** Fields, objects with them → the first of a list of such objects, which alone counts where all have the same field. */
type OneField<F, Each> = [F] extends [
  (F extends unknown ? (field: F) => void : never) extends (field: infer Only) => void
    ? Only
    : never,
]
  ? [Forms<Each>]
  : Untold;

type ListForms<O extends readonly unknown[]> = O extends readonly [infer First, ...infer Others]
  ? Forms<First> extends infer Form
    ? Form extends Untold
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
    : Untold;
