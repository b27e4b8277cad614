import { listText } from "../../../errors/message-parts.js";
import type { Operation } from "../../../errors/orm-error.js";
import { UnindexedQueryError } from "../../../errors/query-errors.js";
import type { CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { isList } from "../../../model/fields/key-kinds.js";
import type { QueryFields } from "../fields/query-fields.js";
import { codeOf, type FindKeys, freeName, nameOf, suggestIndex } from "./suggest-index.js";

/**
 * Returns the error for a query that no index serves. Its `suggestion` is the code of an index,
 * such as `byTeamAndScore: { key: ["team", desc("score")] }`. A comment after the code names the
 * conditions that must move to `filter`, and the rows that the index would leave out. If the model
 * already has such an index, the suggestion says how to use it.
 */
export function unindexedQuery(
  model: CompiledModel,
  query: QueryFields,
  find: FindKeys,
): UnindexedQueryError {
  const names = [...new Set([...query.conditions.keys(), ...query.order.keys()])];
  const { code, advice } = suggestIndex(model, query, find);
  const filtered = query.order.size > 0 ? undefined : servedPart(model, query, find);
  return new UnindexedQueryError(model.name, names, code, (operation) => {
    const quoted = listText(names.map((name) => JSON.stringify(name)));
    const other = filtered === undefined ? "" : filterAdvice(filtered, operation);
    return `no index serves ${quoted}; ${advice}${advice.includes(" into filter") ? "" : other}`;
  });
}

/** Returns the error for an `OR` whose members are served by indexes that cannot be merged. */
export function unmergedQuery(
  model: CompiledModel,
  names: ReadonlySet<string>,
): UnindexedQueryError {
  const advice = "run one query for each member of OR";
  return new UnindexedQueryError(model.name, [...names], `// ${advice}`, () => {
    return `the indexes that serve the members of OR do not have their rows in the same order; use indexes whose keys end with the same fields, or ${advice}`;
  });
}

function filterAdvice({ dropped, index }: ServedPart, operation: Operation | undefined): string {
  if (index !== undefined)
    return ` or move ${listText(dropped)} into filter: ${index} serves the rest`;
  if (operation === "watch") return "";
  const isPage = operation?.startsWith("find") || operation === "explain";
  const condition = dropped.length === 1 ? "the condition" : "the conditions";
  return isPage
    ? ` or move ${condition} into the filter of scan(), which reads every row`
    : ` or move ${condition} into filter, which reads every row`;
}

/** A part of a query's conditions that a key serves with all rows. */
interface ServedPart {
  readonly served: readonly string[];
  /** The fields of the other conditions, which a filter has to test. */
  readonly dropped: readonly string[];
  readonly index: string | undefined;
}

function servedPart(model: CompiledModel, { conditions }: QueryFields, find: FindKeys): ServedPart {
  const names = [...conditions.keys()];
  const usable = names.filter((name) => !isWholeList(model, name, conditions));
  const candidates = [
    usable,
    ...usable.map((dropped) => usable.filter((name) => name !== dropped)),
    ...usable.map((name) => [name]),
  ];
  for (const served of candidates) {
    if (served.length === 0) continue;
    const part = new Map([...conditions].filter(([name]) => served.includes(name)));
    const key = find({ conditions: part, order: new Map() }).find(({ isComplete }) => isComplete);
    if (key === undefined) continue;
    const dropped = names.filter((name) => !served.includes(name));
    return { served, dropped, index: key.index?.name ?? "the primary key" };
  }
  return { served: [], dropped: names, index: undefined };
}

function isWholeList(
  model: CompiledModel,
  name: string,
  conditions: QueryFields["conditions"],
): boolean {
  const schema = model.schema.shape[name];
  const condition = conditions.get(name);
  return schema !== undefined && isList(schema) && !condition?.has && !condition?.isNull;
}

/** The methods that do for all matching rows what the key does for the one that it identifies. */
const methodsOfMany: Partial<Record<Operation, string>> = {
  findUnique: "findFirst",
  findUniqueOrThrow: "findFirstOrThrow",
  watch: "watchMany",
  update: "updateMany",
  delete: "deleteMany",
};

/** Returns the error for values that identify no row. It suggests the method that takes them. */
export function unindexedRow(
  model: CompiledModel,
  query: QueryFields,
  find: FindKeys,
): UnindexedQueryError {
  const fields = [...query.conditions.keys()];
  const list = fields.find((field) => isWholeList(model, field, query.conditions));
  const code = codeOf(
    freeName(model, nameOf(fields)),
    fields.map((field) => JSON.stringify(field)),
    list === undefined ? ["unique: true"] : ["unique: true", "each: true"],
  );
  const part = servedPart(model, query, find);
  return new UnindexedQueryError(model.name, fields, code, (operation) => {
    const problem = `no unique key consists of ${listText(fields.map((name) => JSON.stringify(name)))}`;
    const method = operation && methodsOfMany[operation];
    if (list !== undefined)
      return `${problem}; ${list} is an array, so call ${method ?? "findFirst"} with where: { ${list}: { has: … } }`;
    const call = callOfMany(part, method ?? "findFirst");
    const isWrite = operation === "update" || operation === "delete";
    if (method !== undefined || operation === undefined) {
      return `${problem}; ${call}${isWrite ? " (every row that matches, or one with take: 1)" : ""}`;
    }
    return `${problem}; add ${code} if no two rows share a value, or in a transaction ${call}, then update or create`;
  });
}

/** Returns the error for values that identify a row in a unique index of some rows. */
export function partialUniqueRow(
  model: CompiledModel,
  { name, fields, condition }: CompiledIndex,
  queried: readonly string[],
): UnindexedQueryError {
  const values = Object.entries(condition ?? {}).map(
    ([field, value]) => `${field}: ${JSON.stringify(value)}`,
  );
  const where = `where: { ${[...fields, ...values].join(", ")} }`;
  const query =
    condition === undefined ? `{ ${where}, index: ${JSON.stringify(name)} }` : `{ ${where} }`;
  return new UnindexedQueryError(model.name, queried, `// ${query}`, (operation) => {
    const problem = `the unique index ${name} has only some of the rows`;
    const method = operation && methodsOfMany[operation];
    if (method !== undefined || operation === undefined)
      return `${problem}; call ${method ?? "findFirst"}(${query})`;
    return `${problem}; in a transaction call findFirst(${query}), then update or create`;
  });
}

function callOfMany({ served, dropped }: ServedPart, method: string): string {
  const where = `where: { ${served.join(", ")} }`;
  if (dropped.length === 0) return `call ${method}({ ${where} })`;
  const test = `whose filter tests ${listText(dropped)}`;
  if (served.length > 0) return `call ${method}({ ${where}, filter }) ${test}`;
  if (/Many$/.test(method) && method !== "watchMany") {
    return `call ${method}({ filter }) ${test} and reads every row`;
  }
  const key = dropped.map((field) => JSON.stringify(field));
  const index = codeOf(nameOf(dropped), key, []);
  return `add ${index} and call ${method}({ where: { ${dropped.join(", ")} } })`;
}
