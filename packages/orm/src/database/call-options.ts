import { knownNames } from "../errors/nearest-name.js";
import type { Operation } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import type { CompiledModel } from "../model/compiled-model.js";

const shape = ["select", "include", "withVersionstamp"];
const rows = ["where", "orderBy", "index", "filter", "maxReads"];
const page = ["take", "cursor"];
const unique = new Set(["where", "maxReads", ...shape]);
const first = new Set([...rows, "cursor", ...shape]);
const list = new Set([...rows, ...page, ...shape]);
const count = new Set(rows);
const many = new Set([...rows, "take", "atomic", ...shape]);

/**
 * The name of a method of a repository. In errors, both methods that watch have the operation
 * `watch`.
 */
export type RepositoryMethod = Operation | "watchMany";

/** The options that each method accepts. They are the same as in the types of `Repository`. */
export const allowedOptions: Readonly<Record<RepositoryMethod, ReadonlySet<string>>> = {
  findUnique: unique,
  findUniqueOrThrow: unique,
  findFirst: first,
  findFirstOrThrow: first,
  findMany: list,
  scan: new Set(["orderBy", "filter", "maxReads", ...page, ...shape]),
  count,
  exists: count,
  explain: list,
  watch: unique,
  watchMany: list,
  create: new Set(["data", "expireIn", ...shape]),
  createMany: new Set(["data", "expireIn", "atomic", ...shape]),
  update: new Set(["where", "data", "expireIn", "ifVersion", ...shape]),
  updateMany: new Set([...many, "data", "expireIn"]),
  upsert: new Set(["where", "create", "update", "expireIn", "ifVersion", ...shape]),
  delete: new Set(["where", "ifVersion", ...shape]),
  deleteMany: many,
};

/**
 * Checks the `select` of a call.
 *
 * @throws {InvalidArgumentError} if it is not an object, or if it names a field that the schema
 * does not have.
 */
export function assertSelect(model: CompiledModel, select: unknown): void {
  if (typeof select !== "object" || select === null || Array.isArray(select)) {
    const reason = "it must be an object, such as { name: true }";
    throw new InvalidArgumentError(model.name, "select", reason);
  }
  const { shape: fields, catchall } = model.schema._zod.def;
  if (catchall !== undefined && catchall._zod.def.type !== "never") return;
  for (const field in select) {
    if (Object.hasOwn(fields, field)) continue;
    const reason = `the schema has no such field; ${knownNames(field, Object.keys(fields), "fields")}`;
    throw new InvalidArgumentError(model.name, `select.${field}`, reason);
  }
}
