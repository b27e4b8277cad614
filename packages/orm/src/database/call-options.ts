import type { Operation } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import type { CompiledModel } from "../model/compiled-model.js";

const shape = ["select", "include", "withVersionstamp"];
const rows = ["where", "orderBy", "index", "filter", "maxReads"];
const page = ["take", "cursor"];
const unique = new Set(["where", "maxReads", ...shape]);
const first = new Set([...rows, ...shape]);
const count = new Set(rows);
const many = new Set([...rows, "take", "atomic", ...shape]);

/** The options of each method. Those that only the types do not offer are here too. */
export const optionsOf: Readonly<Record<Operation, ReadonlySet<string>>> = {
  findUnique: unique,
  findUniqueOrThrow: unique,
  findFirst: first,
  findFirstOrThrow: first,
  findMany: new Set([...rows, ...page, ...shape]),
  scan: new Set(["orderBy", "filter", "maxReads", ...page, ...shape]),
  count,
  exists: count,
  explain: new Set([...rows, ...page, ...shape]),
  watch: new Set([...rows, ...page, ...shape]),
  create: new Set(["data", "expireIn", ...shape]),
  createMany: new Set(["data", "expireIn", "atomic", ...shape]),
  update: new Set(["where", "data", "expireIn", "ifVersion", ...shape]),
  updateMany: new Set([...many, "data", "expireIn"]),
  upsert: new Set(["where", "create", "update", "expireIn", "ifVersion", ...shape]),
  delete: new Set(["where", "ifVersion", ...shape]),
  deleteMany: many,
};

/**
 * Looks at what is to be returned of a row.
 *
 * @throws {InvalidArgumentError} for what is no object of fields.
 */
export function assertSelect(model: CompiledModel, select: unknown): void {
  if (typeof select !== "object" || select === null || Array.isArray(select)) {
    const reason = "it has to be an object: { name: true }";
    throw new InvalidArgumentError(model.name, "select", reason);
  }
  const { shape: fields, catchall } = model.schema._zod.def;
  if (catchall !== undefined && catchall._zod.def.type !== "never") return;
  for (const field in select) {
    if (Object.hasOwn(fields, field)) continue;
    throw new InvalidArgumentError(model.name, `select.${field}`, "the schema has no such field");
  }
}
