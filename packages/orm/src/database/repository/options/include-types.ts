import type { AnyModels, Model, Row } from "../../../model/model.js";
import type { ManyToMany, Relation } from "../../../model/relations/relation-definition.js";
import type { ResultField } from "../../../model/rows/result-row.js";
import type {
  NoCondition,
  UnknownField,
  UnknownOption,
  UnknownRelation,
} from "../../../model/type-errors.js";
import type { Served } from "../../../read/types/served-types.js";
import type { IndexedWhere, OrderBy } from "../../../read/types/where-types.js";

/** Models → the models by their `name`, which relations use. */
export type ModelsByName<Models extends AnyModels> = {
  readonly [K in keyof Models as Models[K]["name"]]: Models[K];
};

/**
 * Models, a model's `name` → the model. It looks up one name. Listing all names first would cost
 * one step per model of the database for each relation.
 */
export type ModelNamed<Models extends AnyModels, Name extends string> =
  ModelsByName<Models> extends { readonly [N in Name]: infer Target extends Model }
    ? Target
    : Model;

/** Names that are not relations. `CheckedInclude` refuses them and says what to do. */
interface OtherRelations {
  readonly [relation: string]: unknown;
}

/**
 * Model → the relations to load with its rows: true for all rows of a relation, or a query for some
 * of them. A relation with `false` is not loaded. `_count: { posts: true }` adds the number of rows
 * of a relation, and `_count: { posts: { where } }` that of some of them.
 */
export type Include<M extends Model, Models extends AnyModels> = OtherRelations & {
  readonly [R in keyof M["relations"]]?:
    | boolean
    | RelationQuery<M["relations"][R], Models>
    | undefined;
} & { readonly _count?: CountedRelations<M, Models> | undefined };

/** Model → the relations with many rows, whose rows can be counted. */
type CountedRelations<M extends Model, Models extends AnyModels> = {
  readonly [R in keyof M["relations"] as M["relations"][R]["kind"] extends "hasMany" | "manyToMany"
    ? R
    : never]?:
    | true
    | { readonly where?: IndexedWhere<Referring<M["relations"][R], Models>> | undefined };
};

/** Relation to many rows → the model whose rows refer to this one: the other, or that between. */
type Referring<R extends Relation, Models extends AnyModels> = R extends ManyToMany
  ? ModelNamed<Models, R["through"]>
  : ModelNamed<Models, R["model"]>;

/** Relation → the query that `include` accepts for its rows. */
type RelationQuery<R extends Relation, Models extends AnyModels> = R["kind"] extends
  | "belongsTo"
  | "hasOne"
  ? IncludedRow<ModelNamed<Models, R["model"]>, Models>
  : R["kind"] extends "hasMany"
    ? IncludedRows<ModelNamed<Models, R["model"]>, Models, ModelNamed<Models, R["model"]>>
    : IncludedRows<ModelNamed<Models, R["model"]>, Models, Referring<R, Models>>;

/** A relation to one row: the fields to return, and the relations to load with the row. */
export interface IncludedRow<M extends Model, Models extends AnyModels> {
  readonly select?: { readonly [F in ResultField<M>]?: true } | undefined;
  readonly include?: Include<M, Models> | undefined;
}

/**
 * A relation to many rows. Conditions and order apply to the rows that refer to the row, which are
 * those of a third model for `manyToMany`. They need an index after the relation's fields.
 */
export interface IncludedRows<M extends Model, Models extends AnyModels, Referrer extends Model>
  extends IncludedRow<M, Models> {
  readonly where?: IndexedWhere<Referrer> | undefined;
  readonly orderBy?: OrderBy<Referrer> | readonly OrderBy<Referrer>[] | undefined;
  readonly filter?: ((row: Row<M>) => boolean) | undefined;
  /** The maximum number of related rows for each row. */
  readonly take?: number | undefined;
}

/**
 * Model, `include` → unknown for valid entries, and type errors for relations, fields and options
 * that do not exist, and for queries that no index serves.
 */
export type CheckedInclude<M extends Model, Models extends AnyModels, I> = I extends undefined
  ? I
  : string extends keyof I
    ? unknown
    : {
        readonly [R in keyof I]: R extends keyof M["relations"]
          ? CheckedRelation<
              M["relations"][R],
              ModelNamed<Models, M["relations"][R]["model"]>,
              Models,
              I[R]
            >
          : R extends "_count"
            ? I[R] extends object
              ? CheckedCounts<M, Models, I[R]>
              : unknown
            : UnknownRelation<R, RelationAdvice<keyof M["relations"]>>;
      };

type CheckedCounts<M extends Model, Models extends AnyModels, C> = {
  readonly [R in keyof C]: R extends keyof CountedRelations<M, Models>
    ? C[R] extends boolean | undefined
      ? unknown
      : CheckedRows<M["relations"][R], Models, C[R]>
    : UnknownRelation<R, RelationAdvice<keyof CountedRelations<M, Models>>>;
};

/** Names of relations → advice for another name: `"use posts" | "use team"`. */
type RelationAdvice<Names> = [Names] extends [never]
  ? "the model has no such relations"
  : `use ${Names & string}`;

type CheckedRelation<
  R extends Relation,
  Target extends Model,
  Models extends AnyModels,
  Q,
> = Q extends boolean | undefined
  ? Q
  : {
      readonly [K in keyof Q]: K extends keyof RelationQuery<R, Models>
        ? K extends "select"
          ? CheckedSelect<Target, Q[K]>
          : K extends "include"
            ? CheckedInclude<Target, Models, Q[K]>
            : unknown
        : UnknownOption<
            K,
            "a relation accepts select and include; one with many rows also where, orderBy, filter and take"
          >;
    } & (keyof Q & ("where" | "orderBy") extends never ? unknown : CheckedRows<R, Models, Q>);

type CheckedSelect<M extends Model, S> = {
  readonly [F in keyof S]: F extends ResultField<M>
    ? unknown
    : UnknownField<F, "name fields of the schema">;
};

/** Relation, query → unknown if an index serves both together, otherwise a type error. */
type CheckedRows<R extends Relation, Models extends AnyModels, Q> = R extends
  | { readonly fields: readonly (infer F extends string)[] }
  | { readonly from: readonly (infer F extends string)[] }
  ? [keyof OptionOf<Q, "where"> & F] extends [never]
    ? Served<
        Referring<R, Models>,
        OptionOf<Q, "where"> & { readonly [K in F]: string },
        OptionOf<Q, "orderBy">,
        never
      >
    : {
        readonly where: {
          readonly [K in F]?: NoCondition<"remove it; the relation already determines the value">;
        };
      }
  : unknown;

/** Query, option → the option, or `{}` if it is absent or undefined. */
type OptionOf<Q, Option> = Option extends keyof Q
  ? Q[Option] extends infer Value
    ? Value extends undefined
      ? Record<never, never>
      : Value
    : never
  : Record<never, never>;
