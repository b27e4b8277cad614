import { knownNames } from "../../errors/nearest-name.js";
import { optionAdvice } from "../../errors/option-advice.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import type { LinkedRelation } from "../../model/relations/linked-relations.js";
import type { Relation } from "../../model/relations/relation-definition.js";
import type { AnyInclude, AnyQuery } from "../../state/context/any-query.js";
import type { RelatedModel } from "../../state/context/table-context.js";
import { withReads } from "../find/rows/shaped-result.js";

/** The name in `include` under which numbers of related rows are requested, and returned. */
export const countsName = "_count";

/** A relation to load, with the query for its rows. */
export interface IncludedRelation {
  readonly link: LinkedRelation;
  readonly query: AnyQuery;
}

/** The query options that each kind of relation allows. */
const allowedOptions: Readonly<Record<Relation["kind"], readonly (keyof AnyQuery)[]>> = {
  belongsTo: ["select", "include"],
  hasOne: ["select", "include"],
  hasMany: ["select", "include", "where", "orderBy", "filter", "take"],
  manyToMany: ["select", "include", "where", "orderBy", "filter", "take"],
};

/**
 * Returns the relations that an `include` names.
 *
 * @throws {InvalidArgumentError} if a name is not that of a relation, or if a query has an option
 * that its kind of relation does not allow.
 */
export function includedRelations(
  { model, links, scope, tables, settings }: RelatedModel,
  include: AnyInclude,
): IncludedRelation[] {
  const included: IncludedRelation[] = [];
  const fail = (path: string, reason: string): never => {
    throw new InvalidArgumentError(model.name, path, reason);
  };
  if (typeof include !== "object" || include === null) fail("include", "it must be an object");
  for (const [name, option] of Object.entries(include)) {
    if (option === undefined || option === false) continue;
    if (name === countsName && !links.relations.has(name)) continue;
    const path = `include.${name}`;
    const link = links.relations.get(name);
    if (link === undefined) {
      const advice = knownNames(name, links.relations.keys(), "relations");
      return fail(path, `${model.name} has no such relation; ${advice}`);
    }
    for (const { name: target } of [link.target, ...(link.through ? [link.through] : [])]) {
      if (scope !== undefined && tables.get(target)?.isOutside)
        fail(path, `${target} lacks the fields of the scope; read it without the scope`);
    }
    const query = option === true ? {} : option;
    if (typeof query !== "object" || query === null) fail(path, "it must be true or a query");
    assertAllowed(link, query, (field, reason) => fail(`${path}.${field}`, reason));
    included.push({ link, query: withReads({ model: link.target, settings }, query) });
  }
  return included;
}

function assertAllowed(
  { relation }: LinkedRelation,
  query: AnyQuery,
  fail: (field: string, reason: string) => never,
): void {
  const knownOptions = allowedOptions[relation.kind];
  for (const field of Object.keys(query) as (keyof AnyQuery)[]) {
    if (query[field] === undefined || knownOptions.includes(field)) continue;
    fail(
      field,
      `a ${relation.kind} relation has no such option; ${optionAdvice(field, knownOptions)}`,
    );
  }
  const { take, filter, where } = query;
  if (take !== undefined && !(Number.isSafeInteger(take) && take > 0)) {
    fail("take", "it must be a positive integer");
  }
  if (filter !== undefined && typeof filter !== "function") {
    fail("filter", "it must be a function");
  }
  assertWhere(relation, where, fail);
}

/** Checks the conditions on the rows that refer to a row by a relation. */
export function assertWhere(
  relation: Relation,
  where: unknown,
  fail: (field: string, reason: string) => never,
): void {
  if (where === undefined) return;
  if (!isPlainObject(where)) fail("where", "it must be a plain object");
  for (const field of referringFields(relation)) {
    if ((where as AnyRow)[field] !== undefined)
      fail(`where.${field}`, "the relation itself says what it is");
  }
}

/** Returns the fields that hold the primary key in the rows that refer to a row by a relation. */
export function referringFields(relation: Relation): readonly string[] {
  return relation.kind === "manyToMany" ? relation.from : relation.fields;
}
