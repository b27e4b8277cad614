/**
 * The effect on the rows that refer to a deleted row: `"restrict"` refuses the delete, `"cascade"`
 * deletes them too, and `"setNull"` clears their reference.
 */
export type OnDelete = "restrict" | "cascade" | "setNull";

/** Fields of this model hold the primary key of a row of another model. */
export interface BelongsTo<
  Target extends string = string,
  Fields extends readonly string[] = readonly string[],
  Rule extends OnDelete = OnDelete,
  Copy extends CopiedFields = CopiedFields,
> {
  readonly kind: "belongsTo";
  readonly model: Target;
  readonly fields: Fields;
  readonly onDelete: Rule;
  readonly copy: Copy;
}

/** Field of this model → the field of the other model whose value it copies. */
export type CopiedFields = Readonly<Record<string, string>>;

/** Fields of another model's rows hold this model's primary key. */
export interface HasMany<
  Target extends string = string,
  Fields extends readonly string[] = readonly string[],
> {
  readonly kind: "hasMany";
  readonly model: Target;
  readonly fields: Fields;
}

/** Fields of at most one row of another model hold this model's primary key. */
export interface HasOne<
  Target extends string = string,
  Fields extends readonly string[] = readonly string[],
> {
  readonly kind: "hasOne";
  readonly model: Target;
  readonly fields: Fields;
}

/** Rows of a third model, `through`, refer to rows of both models. */
export interface ManyToMany<
  Target extends string = string,
  Through extends string = string,
  From extends readonly string[] = readonly string[],
  To extends readonly string[] = readonly string[],
> {
  readonly kind: "manyToMany";
  readonly model: Target;
  readonly through: Through;
  /** The fields of `through` that hold this model's primary key. */
  readonly from: From;
  /** The fields of `through` that hold the primary key of the other model. */
  readonly to: To;
}

/** A relation of any kind. */
export type Relation = BelongsTo | HasMany | HasOne | ManyToMany;

/** One field, or several in order → a list of them. */
type ListOf<F extends string | readonly string[]> = F extends string
  ? readonly [F]
  : F extends readonly string[]
    ? F
    : never;

/**
 * Defines a relation to the row whose primary key is in fields of this model. A write checks that
 * the row exists. If the row is deleted, `onDelete` applies. The default is `"restrict"`.
 *
 * ```ts
 * const relations = { author: belongsTo("users", "authorId", { onDelete: "cascade" }) };
 * ```
 *
 * @param model the name of the other model.
 * @param fields one field, or as many as the other model's primary key has, in the same order. An
 * index or the primary key of this model has to begin with them.
 * @param options.copy fields of this model that copy fields of the row to which the relation leads,
 * as in `{ copy: { authorName: "name" } }`. Each write of that row also writes the copies, in the
 * same commit. The schema needs a default for such a field, and data does not contain it.
 */
export function belongsTo<
  const Target extends string,
  const F extends string | readonly string[],
  const Rule extends OnDelete = "restrict",
  const Copy extends CopiedFields = Record<never, never>,
>(
  model: Target,
  fields: F,
  options: { readonly onDelete?: Rule; readonly copy?: Copy } = {},
): BelongsTo<Target, ListOf<F>, Rule, Copy> {
  const { onDelete = "restrict" as Rule, copy = {} as Copy } = options;
  return { kind: "belongsTo", model, fields: toList(fields), onDelete, copy };
}

/**
 * Defines a relation to the rows whose fields hold this row's primary key.
 *
 * @param fields fields of the other model. Its primary key or one of its indexes has to begin with
 * them.
 */
export function hasMany<const Target extends string, const F extends string | readonly string[]>(
  model: Target,
  fields: F,
): HasMany<Target, ListOf<F>> {
  return { kind: "hasMany", model, fields: toList(fields) };
}

/** Like `hasMany`, but leads to one row at most: the first of those that refer to this one. */
export function hasOne<const Target extends string, const F extends string | readonly string[]>(
  model: Target,
  fields: F,
): HasOne<Target, ListOf<F>> {
  return { kind: "hasOne", model, fields: toList(fields) };
}

/**
 * Defines a relation to rows of another model through rows of a third model that refer to both.
 *
 * ```ts
 * const relations = {
 *   tags: manyToMany("tags", { through: "post_tags", from: "postId", to: "tagId" }),
 * };
 * ```
 *
 * @param options.from fields of the third model that hold this model's primary key. An index or the
 * primary key of the third model has to begin with them.
 * @param options.to fields of the third model that hold the primary key of the other model.
 */
export function manyToMany<
  const Target extends string,
  const Through extends string,
  const From extends string | readonly string[],
  const To extends string | readonly string[],
>(
  model: Target,
  options: { readonly through: Through; readonly from: From; readonly to: To },
): ManyToMany<Target, Through, ListOf<From>, ListOf<To>> {
  const { through, from, to } = options;
  return { kind: "manyToMany", model, through, from: toList(from), to: toList(to) };
}

function toList<F extends string | readonly string[]>(fields: F): ListOf<F> {
  return (typeof fields === "string" ? [fields] : [...fields]) as unknown as ListOf<F>;
}
