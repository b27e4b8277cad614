import type { RowsQuery } from "../../../../src/protocol/rows.js";
import type { IndexInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";
import { codeName, codeProperty, codeText } from "../../../values/code-text.js";

/** Returns the call of the inferred API that reads the list. */
export function inferredCode(model: ModelInfo, query: RowsQuery): string {
  const options = { ...query, take: 100 };
  const lines = Object.entries(options).map(([name, value]) => `  ${name}: ${codeText(value)},`);
  return `await ${codeProperty("db", model.property)}.findMany({\n${lines.join("\n")}\n});`;
}

/** Returns the call of the generated repository that reads the list. */
export function repositoryCode(
  model: ModelInfo,
  index: IndexInfo | null,
  own: Readonly<Record<string, unknown>>,
  query: RowsQuery,
): string {
  const names = index?.fields.map(({ name }) => name) ?? model.primaryKey;
  const [only] = names;
  const conditions = names.length === 1 && only !== undefined ? (own[only] ?? {}) : own;
  const [order] = Object.values(query.orderBy ?? {});
  const isForward = order === undefined || order === naturalOrder(index, own);
  const options = {
    ...(!isForward && { order: "desc" }),
    take: 100,
    ...(query.withDeleted && { withDeleted: true }),
  };
  const name = `listBy${suffixOf(model, index)}`;
  return `await ${codeName(model.property)}.${name}(${codeText(conditions)}, ${codeText(options)});`;
}

/** The order of a generated list is that of the index, forward or backward. */
function naturalOrder(index: IndexInfo | null, own: Readonly<Record<string, unknown>>): string {
  const free = index?.fields.find(({ name }) => {
    const condition = own[name];
    return condition === undefined || isRange(condition);
  });
  return free?.isDescending ? "desc" : "asc";
}

function isRange(condition: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return false;
  return ["gt", "gte", "lt", "lte", "startsWith"].some((operator) => operator in condition);
}

function suffixOf(model: ModelInfo, index: IndexInfo | null): string {
  if (index === null) return model.primaryKey.map(pascalCase).join("And");
  const name = pascalCase(index.name);
  return /^By(?=[^\p{Ll}])/u.test(name) ? name.slice(2) : name;
}

/** `user_posts` → `UserPosts`, as the generator writes it. */
function pascalCase(name: string): string {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
