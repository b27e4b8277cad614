import type {
  NoIndexServes,
  UnknownField,
  UnknownOption,
  UnknownRelation,
} from "../../../model/type-errors.js";
import type { FieldCondition } from "../../../read/types/condition-types.js";
import type { Direction } from "../../../state/context/any-query.js";

// The types of `include` in generated code. Each generated model with relations has an interface of
// them, such as `UserRelations { posts: RelatedRows<PostRow, PostRelations, ["score", "id"]> }`.

/** A relation to one row. `Absent` is null if there may be none. */
export interface RelatedRow<Row, Relations = Record<never, never>, Absent = never> {
  readonly kind: "one";
  readonly row: Row;
  readonly relations: Relations;
  readonly absent: Absent;
}

/**
 * A relation to many rows. `Keys` has, for each index that serves the relation, the fields that
 * come after those of the relation. They are fields of `Referrer`: the related rows themselves, or
 * those of a third model.
 */
export interface RelatedRows<
  Row,
  Relations = Record<never, never>,
  Keys extends readonly string[] = never,
  Referrer = Row,
> {
  readonly kind: "many";
  readonly row: Row;
  readonly relations: Relations;
  readonly keys: Keys;
  readonly referrer: Referrer;
}

interface AnyRelated {
  readonly kind: "one" | "many";
  readonly row: unknown;
  readonly relations: unknown;
}

/** Names that are not relations. `CheckedRelations` refuses them and says what to do. */
interface OtherNames {
  readonly [relation: string]: unknown;
}

/** Relations → the relations to load: true, or a query for the rows of a relation. */
export type IncludeOf<Relations> = OtherNames & {
  readonly [R in keyof Relations]?: boolean | QueryOf<Relations[R]> | undefined;
} & { readonly _count?: CountsOf<Relations> | undefined };

/**
 * Relations → those with many rows: true to count the rows, or conditions to count some of them.
 */
type CountsOf<Relations> = {
  readonly [R in NameOfMany<Relations>]?: true | Pick<ManyQueryOf<Relations[R]>, "where">;
};

/** Relations → the names of those with many rows, whose rows can be counted. */
type NameOfMany<Relations> = {
  [R in keyof Relations]: Relations[R] extends { readonly kind: "many" } ? R : never;
}[keyof Relations];

/** Relation → the query that `include` accepts for its rows. */
type QueryOf<R> = R extends { readonly kind: "many" }
  ? ManyQueryOf<R>
  : R extends AnyRelated
    ? OneQuery<R["row"], R["relations"]>
    : never;

type ManyQueryOf<R> =
  R extends RelatedRows<infer Row, infer Relations, infer Keys, infer Referrer>
    ? ManyQuery<Row, Relations, Keys[number], Referrer>
    : never;

interface OneQuery<Row, Relations> {
  readonly select?: { readonly [F in keyof Row]?: true } | undefined;
  readonly include?: IncludeOf<Relations> | undefined;
}

interface ManyQuery<Row, Relations, Field, Referrer> extends OneQuery<Row, Relations> {
  readonly where?:
    | { readonly [F in Field & keyof Referrer]?: FieldCondition<NonNullable<Referrer[F]>> }
    | undefined;
  /** One field. The index determines the order of the others. */
  readonly orderBy?: { readonly [F in Field & keyof Referrer]?: Direction } | undefined;
  readonly filter?: ((row: Row) => boolean) | undefined;
  /** The maximum number of related rows for each row. */
  readonly take?: number | undefined;
}

/** Relations → conditions on their rows: `some` or `none` of many rows, `is` or `isNot` for one. */
export type RelatedConditions<Relations> = {
  readonly [R in keyof Relations]?:
    | (Relations[R] extends { readonly kind: "many" }
        ? ManyConditions<Relations[R]["row" & keyof Relations[R]], Relations[R]>
        : OneConditions<Relations[R]["row" & keyof Relations[R]], Relations[R]>)
    | undefined;
};

interface ManyConditions<Row, R> {
  /** At least one related row meets these conditions. `{}` for any related row. */
  readonly some?: RowConditions<Row, R>;
  /** No related row meets these conditions. `{}` if there is no related row. */
  readonly none?: RowConditions<Row, R>;
}

interface OneConditions<Row, R> {
  /** The related row meets these conditions. Null if there is no related row. */
  readonly is?: RowConditions<Row, R> | null;
  /** The related row does not meet these conditions, or there is none. Null if there is one. */
  readonly isNot?: RowConditions<Row, R> | null;
}

/** Row, its relation → conditions on its fields and on its own relations. */
type RowConditions<Row, R> = {
  readonly [F in keyof Row]?: FieldCondition<NonNullable<Row[F]>>;
} & (R extends { readonly relations: infer Relations } ? RelatedConditions<Relations> : unknown);

/**
 * Relations, `include` → unknown for valid entries, and type errors for relations, fields and
 * options that do not exist, and for queries that no index serves.
 */
export type CheckedRelations<Relations, I> = {
  readonly [R in keyof I]: R extends keyof Relations
    ? CheckedQuery<Relations[R], I[R]>
    : R extends "_count"
      ? {
          readonly [N in keyof I[R]]: N extends NameOfMany<Relations>
            ? I[R][N] extends boolean | undefined
              ? unknown
              : CheckedKey<Relations[N], I[R][N]>
            : UnknownRelation<N, "name a relation with many rows">;
        }
      : UnknownRelation<R, "name one of the model's relations">;
};

type CheckedQuery<R, Q> = Q extends boolean | undefined
  ? Q
  : R extends AnyRelated
    ? {
        readonly [K in keyof Q]: K extends keyof QueryOf<R>
          ? K extends "select"
            ? CheckedFields<R["row"], Q[K]>
            : K extends "include"
              ? CheckedRelations<R["relations"], Q[K]>
              : K extends "where" | "orderBy"
                ? CheckedKey<R, Q>
                : unknown
          : UnknownOption<
              K,
              "a relation accepts select and include; one with many rows also where, orderBy, filter and take"
            >;
      }
    : never;

type CheckedFields<Row, S> = {
  readonly [F in keyof S]: F extends keyof Row
    ? unknown
    : UnknownField<F, "name fields of the schema">;
};

/** Relation, query → unknown if an index serves `where` and `orderBy`, otherwise a type error. */
type CheckedKey<R, Q> = R extends { readonly keys: infer Keys }
  ? [ServingKey<Keys, NamesIn<Q, "where">, NamesIn<Q, "orderBy">>] extends [never]
    ? NoIndexServes<
        NamesIn<Q, "where"> | NamesIn<Q, "orderBy">,
        "add an index whose key begins with the fields of the relation and continues with those of where, then orderBy"
      >
    : unknown
  : unknown;

type NamesIn<Q, Option> = Option extends keyof Q ? keyof Exclude<Q[Option], undefined> : never;

/** Keys, fields of `where`, field of `orderBy` → true if one of the keys serves them. */
type ServingKey<Keys, W, O> = Keys extends readonly [infer F, ...infer Others]
  ? F extends W
    ? [F] extends [O]
      ? [Exclude<W, F>] extends [never]
        ? true
        : never
      : ServingKey<Others, Exclude<W, F>, O>
    : [W] extends [never]
      ? [O] extends [F]
        ? true
        : never
      : never
  : [W | O] extends [never]
    ? true
    : never;
