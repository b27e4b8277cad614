import { encodeKey } from "@keywright/core";
import { knownNames } from "../../errors/nearest-name.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import { ScopeError } from "../../errors/scope-error.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { keyPartOf } from "../../model/keys/key-parts.js";
import type { LinkedRelation } from "../../model/relations/linked-relations.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { RelatedFilters } from "../../state/context/open-filters.js";
import type { RelatedModel } from "../../state/context/table-context.js";
import { hashOf } from "../../state/schema/manifests/hash.js";
import { allFilters, Filters } from "./filters-of-query.js";
import type { RelatedConditions, RelatedFilter } from "./related-filter.js";

/**
 * Returns a query whose conditions on related rows are in `related`, so that `where` only has those
 * on the model's own fields. Returns the query itself if it has none.
 *
 * @throws {InvalidQueryError} if such a condition is not valid.
 */
export function withRelatedFilters<Query extends AnyQuery>(
  context: RelatedModel,
  query: Query,
): Query {
  const { model, links } = context;
  const { where } = query;
  if (links.relations.size === 0 || !isPlainObject(where)) return query;
  const names = Object.keys(where).filter((name) => isRelation(context, name));
  assertOutsideOr(context, where);
  if (names.length === 0) return query;
  // The order of the model's relations, and not that of the query, decides which one finds rows.
  const ordered = [...links.relations.values()].filter(({ name }) => names.includes(name));
  const filters = ordered.flatMap((link) => parseFilter(context, link, where[link.name]));
  const own = Object.entries(where).filter(([name]) => !names.includes(name));
  const id = idOf(
    model,
    names.map((name) => [name, where[name]]),
  );
  return { ...query, where: Object.fromEntries(own), related: new Filters(filters, id) };
}

/**
 * Returns conditions on related rows, each by the names of relations alone. A row must meet all.
 *
 * @throws {InvalidQueryError} if a name is not that of a relation, or a condition is not valid.
 */
export function relatedFilters(
  context: RelatedModel,
  list: readonly unknown[],
): RelatedFilters | undefined {
  const { model, links } = context;
  const filters = list.map((where) => {
    if (!isPlainObject(where)) {
      const reason = "it must be an object: the conditions of each relation";
      throw new InvalidQueryError(model.name, "whereRelated", reason);
    }
    const query = withRelatedFilters<AnyQuery>(context, { where });
    const [unknown] = Object.keys(query.where ?? {});
    if (unknown === undefined) return query.related;
    const known = knownNames(unknown, links.relations.keys(), "relations");
    const reason = `${model.name} has no such relation; ${known}`;
    throw new InvalidQueryError(model.name, `whereRelated.${unknown}`, reason);
  });
  const present = filters.filter((each) => each !== undefined);
  return allFilters(context, present);
}

/** True for the name of a relation. A field of the same name comes first. */
function isRelation({ model, links }: RelatedModel, name: string): boolean {
  if (!links.relations.has(name) || Object.hasOwn(model.schema.shape, name)) return false;
  return !model.indexes.some(({ fields }) => fields.includes(name));
}

function assertOutsideOr(context: RelatedModel, { OR: members }: AnyRow): void {
  const { model } = context;
  if (!Array.isArray(members) || Object.hasOwn(model.schema.shape, "OR")) return;
  for (const [position, member] of members.entries()) {
    if (!isPlainObject(member)) continue;
    const name = Object.keys(member).find((key) => isRelation(context, key));
    if (name === undefined) continue;
    const reason =
      "a condition on related rows cannot be a member of OR; run one query for each member";
    throw new InvalidQueryError(model.name, `OR[${position}].${name}`, reason);
  }
}

function parseFilter(context: RelatedModel, link: LinkedRelation, input: unknown): RelatedFilter[] {
  const { model } = context;
  const { kind } = link.relation;
  assertWithinScope(context, link);
  const isOfOne = kind === "belongsTo" || kind === "hasOne";
  const known = isOfOne ? (["is", "isNot"] as const) : (["some", "none"] as const);
  const fail = (place: string, reason: string): never => {
    throw new InvalidQueryError(model.name, place, reason);
  };
  if (!isPlainObject(input)) {
    return fail(link.name, `it is a relation; give { ${known[0]}: … } or { ${known[1]}: … }`);
  }
  const names = Object.keys(input);
  const unknown = names.find((name) => !known.some((each) => each === name));
  if (unknown !== undefined) {
    fail(
      link.name,
      `a ${kind} relation has no ${unknown}; ${knownNames(unknown, known, "conditions")}`,
    );
  }
  if (names.length === 0)
    fail(link.name, "it has no condition; add one, or leave the relation out");
  return known.flatMap((condition): RelatedFilter[] => {
    if (!Object.hasOwn(input, condition)) return [];
    const place = `${link.name}.${condition}`;
    const conditions = input[condition];
    const isNegated = condition === "none" || condition === "isNot";
    if (conditions === null && isOfOne) {
      return [{ link, condition, isNegated: !isNegated, query: undefined }];
    }
    if (!isPlainObject(conditions)) {
      const orNull = isOfOne ? ", or null" : "";
      return fail(place, `it must be an object with conditions on ${link.target.name}${orNull}`);
    }
    return [
      { link, condition, isNegated, query: parseConditions(context, link, conditions, place) },
    ];
  });
}

/** @throws {ScopeError} if the related rows lack the fields of the scope. */
function assertWithinScope({ model, scope, tables }: RelatedModel, link: LinkedRelation): void {
  if (scope === undefined) return;
  for (const { name } of [link.target, ...(link.through ? [link.through] : [])]) {
    if (!tables.get(name)?.isOutside) continue;
    const reason = `${name} lacks the fields of the scope; query it without the scope`;
    throw new ScopeError(model.name, `where.${link.name}`, reason);
  }
}

function parseConditions(
  context: RelatedModel,
  link: LinkedRelation,
  conditions: AnyRow,
  place: string,
): RelatedConditions | undefined {
  const { relation } = link;
  if (Object.keys(conditions).length === 0) return undefined;
  if (relation.kind === "hasMany" || relation.kind === "hasOne") {
    const field = relation.fields.find((name) => Object.hasOwn(conditions, name));
    if (field !== undefined) {
      const reason = "the relation itself says what it is; leave it out";
      throw new InvalidQueryError(context.model.name, `${place}.${field}`, reason);
    }
  }
  const target = context.tables.get(link.target.name)!;
  const query: AnyQuery = { where: conditions };
  return withRelatedFilters(target, query);
}

/** Returns a text that is equal for the same conditions, in whatever order they are written. */
function idOf({ name }: CompiledModel, conditions: unknown): string {
  return hashOf([name, comparable(conditions)]);
}

/** Returns a JSON value that is equal for values with the same key part. */
function comparable(value: unknown): unknown {
  const part = keyPartOf(value);
  if (part !== undefined && !(typeof part === "string" && !part.isWellFormed())) {
    return { part: Array.from(encodeKey([part])) };
  }
  if (Array.isArray(value)) return value.map(comparable);
  if (!isPlainObject(value)) return String(value);
  return {
    fields: Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, comparable(each)]),
    ),
  };
}
