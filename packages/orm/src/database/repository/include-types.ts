import type { AnyModels, Model, Row } from "../../model/model.js";
import type { Relation } from "../../model/relation-definition.js";
import type { ResultField } from "../../model/result-row.js";
import type {
  NoCondition,
  UnknownField,
  UnknownOption,
  UnknownRelation,
} from "../../model/type-errors.js";
import type { Served } from "../../query/types/served-types.js";
import type { IndexedWhere, OrderBy } from "../../query/types/where-types.js";

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
 * of a relation.
 */
export type Include<M extends Model, Models extends AnyModels> = OtherRelations & {
  readonly [R in keyof M["relations"]]?:
    | boolean
    | RelationQuery<M["relations"][R], Models>
    | undefined;
} & { readonly _count?: CountedRelations<M> | undefined };

/** Model → the relations with many rows, whose rows can be counted. */
type CountedRelations<M extends Model> = {
  readonly [R in keyof M["relations"] as M["relations"][R]["kind"] extends "hasMany" | "manyToMany"
    ? R
    : never]?: true;
};

/** Relation → the query that `include` accepts for its rows. */
type RelationQuery<R extends Relation, Models extends AnyModels> = R["kind"] extends
  | "belongsTo"
  | "hasOne"
  ? IncludedRow<ModelNamed<Models, R["model"]>, Models>
  : R["kind"] extends "hasMany"
    ? IncludedRows<ModelNamed<Models, R["model"]>, Models>
    : IncludedList<ModelNamed<Models, R["model"]>, Models>;

/** A relation to one row: the fields to return, and the relations to load with the row. */
export interface IncludedRow<M extends Model, Models extends AnyModels> {
  readonly select?: { readonly [F in ResultField<M>]?: true } | undefined;
  readonly include?: Include<M, Models> | undefined;
}

/** The query for a relation to many rows through a third model. It can also restrict the rows. */
export interface IncludedList<M extends Model, Models extends AnyModels>
  extends IncludedRow<M, Models> {
  readonly filter?: ((row: Row<M>) => boolean) | undefined;
  /** The maximum number of related rows for each row. */
  readonly take?: number | undefined;
}

/** A relation to many rows. Conditions and order need an index after the relation's fields. */
export interface IncludedRows<M extends Model, Models extends AnyModels>
  extends IncludedList<M, Models> {
  readonly where?: IndexedWhere<M> | undefined;
  readonly orderBy?: OrderBy<M> | readonly OrderBy<M>[] | undefined;
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
            ? CheckedCounts<M, I[R]>
            : UnknownRelation<R, "name one of the model's relations">;
      };

type CheckedCounts<M extends Model, C> = {
  readonly [R in keyof C]: R extends keyof CountedRelations<M>
    ? unknown
    : UnknownRelation<R, "name a hasMany or manyToMany relation of the model">;
};

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
            "a relation accepts select and include; one with many rows also filter and take; hasMany also where and orderBy"
          >;
    } & (keyof Q & ("where" | "orderBy") extends never ? unknown : CheckedRows<Target, R, Q>);

type CheckedSelect<M extends Model, S> = {
  readonly [F in keyof S]: F extends ResultField<M>
    ? unknown
    : UnknownField<F, "name fields of the schema">;
};

/** Model, relation, query → unknown if an index serves both together, otherwise a type error. */
type CheckedRows<M extends Model, R extends Relation, Q> = R extends {
  readonly fields: readonly (infer F extends string)[];
}
  ? [keyof OptionOf<Q, "where"> & F] extends [never]
    ? Served<M, OptionOf<Q, "where"> & { readonly [K in F]: string }, OptionOf<Q, "orderBy">, never>
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
