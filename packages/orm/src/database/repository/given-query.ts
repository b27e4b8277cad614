import type { AnyQuery } from "../../context/any-query.js";
import { copyOfFields, copyOfGiven } from "../../context/copy-of-data.js";
import { isPlainObject } from "../../context/is-plain-object.js";

/**
 * A call's argument as it is now: the call reads it again after it has waited, and the caller may change it right away. What
 * is to be written is the same object still, of which the writers make a copy of their own before they wait.
 */
export function givenQuery<Query extends object>(query: Query): Query {
  // What is wrong with it is said where the call is run.
  if (!isPlainObject(query)) return query;
  const own: { -readonly [Name in keyof AnyQuery]: AnyQuery[Name] } = { ...query };
  if (isPlainObject(own.where)) own.where = copyOfFields(own.where);
  if (own.orderBy !== undefined) own.orderBy = copyOfGiven(own.orderBy);
  if (own.select !== undefined) own.select = copyOfGiven(own.select);
  if (own.include !== undefined) own.include = copyOfGiven(own.include);
  return own as Query;
}
