import { knownNames } from "./nearest-name.js";

/** Names that other libraries have for an option → the names of the option here. */
const names: Readonly<Record<string, readonly string[]>> = {
  take: ["first", "limit", "maxresults", "pagesize", "perpage", "size", "top"],
  skip: ["offset", "start"],
  cursor: ["after", "continue", "nexttoken", "page", "pagetoken", "startafter"],
  orderBy: ["order", "orderby", "ordering", "sort", "sortby"],
  order: ["direction", "orderby", "reverse", "sort"],
  where: ["by", "condition", "conditions", "criteria", "id", "match", "query"],
  select: ["attributes", "columns", "fields", "omit", "pick", "projection"],
  include: ["expand", "join", "joins", "populate", "relations", "with"],
  data: ["changes", "doc", "document", "input", "record", "row", "set", "values"],
  by: ["fields", "group", "groupby"],
  field: ["by", "column", "fields", "on", "select"],
  skipDuplicates: ["ignore", "ignoreduplicates", "onconflict", "ordered"],
  expireIn: ["expire", "expireat", "expires", "expiresin", "lifetime", "ttl"],
  ifVersion: ["check", "expectedversion", "version", "versionstamp"],
  signal: ["abort", "abortsignal", "cancel"],
  maxReads: ["maxscan", "readlimit", "timeout"],
};

/**
 * Returns advice for an option that a call does not have: the option that does the same here, such
 * as `use take` for `limit`, or else the nearest name or all names.
 */
export function optionAdvice(name: string, known: Iterable<string>): string {
  const options = [...known];
  const asWritten = name.toLowerCase().replaceAll(/[_-]/g, "");
  const same = options.filter((option) => {
    return Object.hasOwn(names, option) && names[option]!.includes(asWritten);
  });
  if (same.length === 0) return knownNames(name, options, "options");
  const [only] = same;
  // An index without ranks cannot leave rows out without reading them.
  if (only === "skip") return "use the cursor of the page before, or skip if the index is ranked";
  return `use ${same.join(" or ")}`;
}
