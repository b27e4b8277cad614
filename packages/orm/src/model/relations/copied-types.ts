import type { NotStored } from "../type-errors.js";

/** Relations → a union of the fields that they copy. */
type CopiedField<Relations> = {
  [R in keyof Relations]: Relations[R] extends { readonly copy: infer Copy }
    ? // A relation without `copy` has the type of any.
      string extends keyof Copy
      ? never
      : keyof Copy
    : never;
}[keyof Relations];

/** The relations of a model → type errors for data that contains fields that they copy. */
export type NoCopies<Relations> = [CopiedField<Relations>] extends [never]
  ? unknown
  : {
      readonly [F in CopiedField<Relations> & string]?:
        | NotStored<F, "it is a copy that the relation maintains; leave it out">
        | undefined;
    };
