import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { isList } from "../model/field-schema.js";
import type { QueryFields } from "./query-fields.js";

/**
 * An index, in code, that would serve a query: `byTeamAndScore: { key: ["team", desc("score")] }`. Where the model has one
 * that lacks some of the rows, how to ask for those that it has.
 */
export function suggestIndex(
  model: CompiledModel,
  { conditions, order }: QueryFields,
  incomplete: CompiledIndex | undefined,
): string {
  const equal = [...conditions].filter(([, { values }]) => values?.length === 1);
  const several = [...conditions].filter(([, { values }]) => values && values.length !== 1);
  const bounded = [...conditions].filter(([, { values }]) => values === undefined);
  const ordered = [...order.keys()];
  const places = (entries: readonly (readonly [string, unknown])[]) =>
    entries.map(([name]) => name);
  // Of several bounded fields an index serves one: that by which is ordered, where there is such a one.
  const range = bounded.find(([name]) => name === ordered[0]) ?? bounded[0];
  const fields = [
    ...new Set([...places(equal), ...places(several), ...(range ? [range[0]] : []), ...ordered]),
  ];
  const leftOver = places(bounded).filter((name) => !fields.includes(name));
  const isSame = incomplete?.fields.length === fields.length;
  if (incomplete && isSame && fields.every((field) => incomplete.fields.includes(field))) {
    return `index: ${JSON.stringify(incomplete.name)}`;
  }
  const free = fields.filter((field) => order.has(field) && !places(equal).includes(field));
  const main = order.get(free[0] ?? "");
  const key = fields.map((field) =>
    free.includes(field) && order.get(field) !== main
      ? `desc(${JSON.stringify(field)})`
      : JSON.stringify(field),
  );
  const isEach = fields.some((field) => conditions.get(field)?.has || isArray(model, field));
  const code = definition(fields, key, isEach ? ["each: true"] : []);
  return leftOver.length === 0 ? code : `${code} // and filter by ${leftOver.join(", ")}`;
}

/** A unique index, in code, over some fields. */
export function suggestUniqueIndex(fields: readonly string[]): string {
  return definition(
    fields,
    fields.map((field) => JSON.stringify(field)),
    ["unique: true"],
  );
}

function definition(
  fields: readonly string[],
  key: readonly string[],
  options: readonly string[],
): string {
  const names = fields.map((field) => field.charAt(0).toUpperCase() + field.slice(1));
  const keyText = key.length === 1 ? key[0] : `[${key.join(", ")}]`;
  return `by${names.join("And")}: { ${[`key: ${keyText}`, ...options].join(", ")} }`;
}

function isArray(model: CompiledModel, field: string): boolean {
  const schema = model.schema.shape[field];
  return schema !== undefined && isList(schema);
}
