import type { FieldOf } from "../../../model/indexes/field-types.js";
import type { AnyModels, Model, Row } from "../../../model/model.js";
import type { Relation } from "../../../model/relations/relation-definition.js";
import type {
  NoCondition,
  NoIndexServes,
  ReadsWholeTable,
  UnknownOption,
} from "../../../model/type-errors.js";
import type { RangeFilter } from "../../../read/types/condition-types.js";
import type { KeyOfEach } from "../../../read/types/form-types.js";
import type { OrEmpty, Served } from "../../../read/types/served-types.js";
import type { IndexedWhere } from "../../../read/types/where-types.js";
import type { ModelNamed } from "./include-types.js";

/** Model → the names of its relations, except those that are also names of fields. */
type RelationName<M extends Model> = Exclude<keyof M["relations"] & string, FieldOf<Row<M>>>;

/**
 * Model → conditions on the fields of its primary key and its indexes, and on the rows of its
 * relations. `ServedByAll` checks them.
 */
export type QueryWhere<M extends Model, Models extends AnyModels> = IndexedWhere<M> & {
  readonly [R in RelationName<M>]?: RelatedCondition<M["relations"][R], Models>;
};

/** Relation → the conditions on its rows: `some` or `none` of many, `is` or `isNot` for one. */
type RelatedCondition<R extends Relation, Models extends AnyModels> = R["kind"] extends
  | "hasMany"
  | "manyToMany"
  ? ManyCondition<ModelNamed<Models, R["model"]>, Models>
  : OneCondition<ModelNamed<Models, R["model"]>, Models>;

/** Conditions on the rows of a relation with many rows. */
export interface ManyCondition<M extends Model, Models extends AnyModels> {
  /** At least one related row meets these conditions. `{}` for any related row. */
  readonly some?: QueryWhere<M, Models>;
  /** No related row meets these conditions. `{}` if there is no related row. */
  readonly none?: QueryWhere<M, Models>;
}

/** Conditions on the row of a relation with one row. */
export interface OneCondition<M extends Model, Models extends AnyModels> {
  /** The related row meets these conditions. Null if there is no related row. */
  readonly is?: QueryWhere<M, Models> | null;
  /** The related row does not meet these conditions, or there is none. Null if there is one. */
  readonly isNot?: QueryWhere<M, Models> | null;
}

/**
 * Model, `where`, `orderBy`, `index` → unknown if indexes serve all conditions, otherwise a type
 * error. `Plain` is the result for a query without conditions on related rows.
 */
export type ServedByAll<M extends Model, Models extends AnyModels, W, O, X, Plain> = [
  Extract<KeyOfEach<OrEmpty<W>>, RelationName<M>>,
] extends [never]
  ? Plain
  : W extends undefined
    ? Plain
    : OwnServed<M, OwnWhere<M, W>, O, X> &
        CheckedRelated<M, Models, W, IsAlone<OwnWhere<M, W>, O, X>>;

/** `where` → the same without the conditions on related rows. */
type OwnWhere<M extends Model, W> = {
  readonly [F in keyof W as F extends RelationName<M> ? never : F]: W[F];
};

/** Model, conditions on its fields → unknown if there are none, or if an index serves them. */
type OwnServed<M extends Model, W, O, X> =
  IsAlone<W, O, X> extends true ? unknown : Served<M, W, O, X>;

/** True if conditions on related rows have to find the rows. */
type IsAlone<W, O, X> = [keyof W, KeyOfEach<OrEmpty<O>>, X] extends [
  never,
  never,
  never | undefined,
]
  ? true
  : false;

/** `where` → a type error at each condition on related rows that no index serves. */
type CheckedRelated<M extends Model, Models extends AnyModels, W, Alone> = {
  readonly where: Alone extends true
    ? [Finding<W, RelationName<M>>] extends [never]
      ? ReadsWholeTable<"none and isNot find no rows: add a condition on the model's own fields, or orderBy the primary key to read every row">
      : RelatedRefusals<M, Models, W, Alone>
    : RelatedRefusals<M, Models, W, Alone>;
};

/** `where` → the relations with a condition that can find rows. */
type Finding<W, Names> = {
  [R in keyof W]-?: R extends Names
    ? W[R] extends { readonly some: unknown }
      ? R
      : W[R] extends { readonly is: object }
        ? R
        : W[R] extends { readonly isNot: null }
          ? R
          : never
    : never;
}[keyof W];

type RelatedRefusals<M extends Model, Models extends AnyModels, W, Alone> = {
  readonly [R in keyof W as R extends RelationName<M> ? R : never]: R extends RelationName<M>
    ? RelationRefusal<
        M["relations"][R],
        ModelNamed<Models, M["relations"][R]["model"]>,
        Models,
        W[R],
        Alone
      >
    : unknown;
};

/** Relation, its condition → unknown for each operator that is served. */
type RelationRefusal<
  R extends Relation,
  Target extends Model,
  Models extends AnyModels,
  C,
  Alone,
> = {
  readonly [K in keyof C]: K extends OperatorOf<R>
    ? C[K] extends null
      ? unknown
      : ConditionsRefusal<R, Target, Models, C[K], K extends "some" | "is" ? Alone : false>
    : UnknownOption<
        K,
        "hasMany and manyToMany have some and none, belongsTo and hasOne have is and isNot"
      >;
};

type OperatorOf<R extends Relation> = R["kind"] extends "hasMany" | "manyToMany"
  ? "some" | "none"
  : "is" | "isNot";

/** Relation, conditions on its rows → unknown if an index of the related model serves them. */
type ConditionsRefusal<
  R extends Relation,
  Target extends Model,
  Models extends AnyModels,
  C,
  Alone,
> = string extends keyof C
  ? unknown
  : FieldsRefusal<R, Target, OwnWhere<Target, C>, Alone> &
      ([Extract<keyof C, RelationName<Target>>] extends [never]
        ? unknown
        : RelatedRefusals<Target, Models, C, false>);

/** The same for the conditions on the fields of the related rows. */
type FieldsRefusal<R extends Relation, Target extends Model, C, Alone> = [keyof C] extends [never]
  ? unknown
  : R extends {
        readonly kind: "hasMany" | "hasOne";
        readonly fields: readonly (infer F extends string)[];
      }
    ? [keyof C & F] extends [never]
      ? ReferringRefusal<Target, C, F, Alone>
      : { readonly [K in F]?: NoCondition<"remove it; the relation already determines the value"> }
    : unknown extends Served<Target, C, LeftOutOrder, never>
      ? unknown
      : NoIndexServes<
          keyof C,
          "declare an index of the related model whose key begins with these fields"
        >;

type LeftOutOrder = Record<never, never>;

/** Model, conditions, fields of the relation → unknown if an index serves them. */
type ReferringRefusal<Target extends Model, C, F extends string, Alone> =
  unknown extends Served<Target, C, LeftOutOrder, never>
    ? unknown
    : Alone extends true
      ? unknown extends Served<
          Target,
          C & { readonly [K in F]: RangeFilter<string> },
          LeftOutOrder,
          never
        >
        ? unknown
        : NoIndexServes<
            keyof C | F,
            "declare an index of the related model whose key has the fields of the condition and then those of the relation"
          >
      : unknown extends Served<Target, C & { readonly [K in F]: string }, LeftOutOrder, never>
        ? unknown
        : NoIndexServes<
            keyof C | F,
            "declare an index of the related model whose key has the fields of the relation and then those of the condition"
          >;
