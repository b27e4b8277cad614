import type { FieldOf } from "../../model/index-definition.js";
import type { AnyModels, Model, Row } from "../../model/model.js";
import type { Relation } from "../../model/relation-definition.js";
import type {
  NoCondition,
  UnknownField,
  UnknownOption,
  UnknownRelation,
} from "../../model/type-errors.js";
import type { Served } from "../../query/types/served-types.js";
import type { IndexedWhere, OrderBy } from "../../query/types/where-types.js";

/** Models → the same by their own names, as relations name them. */
export type ModelsByName<Models extends AnyModels> = {
  readonly [K in keyof Models as Models[K]["name"]]: Models[K];
};

/**
 * Models, own name → the model. It looks one name up and never asks for all of them, which would take a step for each
 * model of the database at every relation.
 */
export type ModelNamed<Models extends AnyModels, Name extends string> =
  ModelsByName<Models> extends { readonly [N in Name]: infer Target extends Model }
    ? Target
    : Model;

/** Names that are no relations: they are refused by `CheckedInclude`, which says what to do. */
interface OtherRelations {
  readonly [relation: string]: unknown;
}

/** Model → the relations to load with its rows: all rows of one, or those of a query of its own; none where it is false. */
export type Include<M extends Model, Models extends AnyModels> = OtherRelations & {
  readonly [R in keyof M["relations"]]?:
    | boolean
    | RelationQuery<M["relations"][R], Models>
    | undefined;
};

/** Relation → what `include` can say of the rows that it leads to. */
type RelationQuery<R extends Relation, Models extends AnyModels> = R["kind"] extends
  | "belongsTo"
  | "hasOne"
  ? IncludedRow<ModelNamed<Models, R["model"]>, Models>
  : R["kind"] extends "hasMany"
    ? IncludedRows<ModelNamed<Models, R["model"]>, Models>
    : IncludedList<ModelNamed<Models, R["model"]>, Models>;

/** Of a relation to one row: which of its fields, and what to load with it in turn. */
export interface IncludedRow<M extends Model, Models extends AnyModels> {
  readonly select?: { readonly [F in FieldOf<Row<M>>]?: true } | undefined;
  readonly include?: Include<M, Models> | undefined;
}

/** Of a relation to rows by way of a third model: the same, and which of them. */
export interface IncludedList<M extends Model, Models extends AnyModels>
  extends IncludedRow<M, Models> {
  readonly filter?: ((row: Row<M>) => boolean) | undefined;
  /** Rows at the most, of each row with the relation. */
  readonly take?: number | undefined;
}

/** Of a relation to rows: the same, with conditions and an order that an index has behind the relation's fields. */
export interface IncludedRows<M extends Model, Models extends AnyModels>
  extends IncludedList<M, Models> {
  readonly where?: IndexedWhere<M> | undefined;
  readonly orderBy?: OrderBy<M> | readonly OrderBy<M>[] | undefined;
}

/** Model, `include` → what it may not have: relations, fields and orders that are not there. */
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
          : UnknownRelation<R, "name one of the model's relations">;
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
            "a relation takes select and include; of many rows filter and take, too; hasMany where and orderBy, too"
          >;
    } & (keyof Q & ("where" | "orderBy") extends never ? unknown : CheckedRows<Target, R, Q>);

type CheckedSelect<M extends Model, S> = {
  readonly [F in keyof S]: F extends FieldOf<Row<M>>
    ? unknown
    : UnknownField<F, "name fields of the schema">;
};

/** Model, relation to its rows, query → what the query cannot be, of which the relation's fields are a part. */
type CheckedRows<M extends Model, R extends Relation, Q> = R extends {
  readonly fields: readonly (infer F extends string)[];
}
  ? [keyof Given<Q, "where"> & F] extends [never]
    ? Served<M, Given<Q, "where"> & { readonly [K in F]: string }, Given<Q, "orderBy">, never>
    : {
        readonly where: {
          readonly [K in F]?: NoCondition<"leave it out: the relation itself says what it is">;
        };
      }
  : unknown;

/** Query, option → the option, `{}` where it is absent or undefined. */
type Given<Q, Option> = Option extends keyof Q
  ? Q[Option] extends infer Value
    ? Value extends undefined
      ? Record<never, never>
      : Value
    : never
  : Record<never, never>;
