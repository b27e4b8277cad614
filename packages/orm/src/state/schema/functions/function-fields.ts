import { functionSource } from "./function-source.js";

/** The beginning of a function with one parameter: `row=>`, `function where(row){`, `key(row){`. */
const namedParameter =
  /^(?:([\w$]+)=>|function(?: [\w$]+)?\(([\w$]+)\)\{|(?!function\()[\w$]+\(([\w$]+)\)\{)/;
/** The beginning of a function whose parameter is `{ a, b: c }`. */
const destructuredParameter = /^(?:function(?: [\w$]+)?|[\w$]+)?\(\{([^{}()]*)\}\)/;

/** Methods that every object has. Some of them read all fields. */
const objectMembers = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * Returns the fields that a function of a row reads, by its source: `(row) => row.closedAt ===
 * null` and `({ closedAt }) => closedAt === null` read `closedAt`. Returns undefined if the
 * function uses the row in any other way, for example as the argument of another function. It may
 * then read every field. The result may contain fields that the function does not read.
 */
export function functionFields(fn: (row: never) => unknown): ReadonlySet<string> | undefined {
  const source = functionSource(fn);
  // An escaped name could be that of the parameter.
  if (source.includes("\\u") || /\barguments\b/.test(source)) return undefined;
  const named = namedParameter.exec(source);
  if (named !== null) {
    const parameter = named.slice(1).find((name) => name !== undefined) ?? "";
    return memberFields(source.slice(named[0].length), parameter);
  }
  const properties = destructuredParameter.exec(source)?.[1];
  return properties === undefined ? undefined : destructuredFields(properties);
}

/** Returns the names after `row.` in a source, if `row` stands nowhere else. */
function memberFields(source: string, parameter: string): ReadonlySet<string> | undefined {
  const fields = new Set<string>();
  const name = parameter.replaceAll("$", "\\$");
  const uses = new RegExp(
    `(?<![\\w$])${name}(?![\\w$])(?:\\??\\.([\\p{ID_Start}$_][\\p{ID_Continue}$]*))?`,
    "gu",
  );
  for (const [, field] of source.matchAll(uses)) {
    if (field === undefined || objectMembers.has(field)) return undefined;
    fields.add(field);
  }
  return fields;
}

function destructuredFields(properties: string): ReadonlySet<string> | undefined {
  const fields = new Set<string>();
  for (const property of properties.split(",").filter((text) => text !== "")) {
    const field = /^([\w$]+)(?::[\w$]+)?(?:=[^=]*)?$/.exec(property)?.[1];
    if (field === undefined) return undefined;
    fields.add(field);
  }
  return fields;
}
