import type { AnyQuery } from "../../context/any-query.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { copyFields, deepCopy } from "../../model/rows/copy-of-data.js";

/**
 * Returns a copy of the argument of a call, because the call reads it asynchronously and the caller
 * may change it in the meantime. The data of a write is not copied here. The functions that write
 * copy it before they wait for anything.
 */
export function copyQuery<Query extends object>(query: Query): Query {
  // An invalid argument is refused when the call runs.
  if (!isPlainObject(query)) return query;
  const copy: { -readonly [Name in keyof AnyQuery]: AnyQuery[Name] } = { ...query };
  if (isPlainObject(copy.where)) copy.where = copyFields(copy.where);
  if (copy.orderBy !== undefined) copy.orderBy = deepCopy(copy.orderBy);
  if (copy.select !== undefined) copy.select = deepCopy(copy.select);
  if (copy.include !== undefined) copy.include = deepCopy(copy.include);
  return copy as Query;
}
