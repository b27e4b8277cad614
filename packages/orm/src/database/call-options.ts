import type { Operation } from "../errors/orm-error.js";
import type { AnyQuery } from "../state/context/any-query.js";
import type { ManyOptions } from "../write/many/change-rows.js";

/** The options of a call of any method, for any model. */
export interface CallOptions extends AnyQuery, ManyOptions {
  readonly data?: unknown;
  readonly create?: unknown;
  readonly update?: unknown;
  readonly skipDuplicates?: boolean | undefined;
  /** Also restores the rows that were marked together with the row. */
  readonly cascade?: unknown;
  /** The time before which rows that are to be purged were deleted. */
  readonly before?: unknown;
  /** The versionstamp of the last commit that was handled. */
  readonly after?: string | undefined;
  /** False to end after the newest commit. */
  readonly live?: boolean | undefined;
  /** How many commits are read to find a deleted row. */
  readonly maxScan?: number | undefined;
  /** The commit whose version of a row is restored. */
  readonly versionstamp?: unknown;
  /** Conditions on related rows, which rows have to meet all. Only of generated repositories. */
  readonly whereRelated?: readonly unknown[] | undefined;
}

/** The options of all calls of a view of a generated repository. */
export type RowShape = Pick<
  CallOptions,
  "select" | "include" | "withVersionstamp" | "whereRelated"
>;

/**
 * How the options of calls are written:
 *
 * - `inferred`: as those of `Repository`.
 * - `generated`: as those of `Rows`, whose conditions are on the parts of one key.
 * - `related`: as those of `Rows`, with conditions on fields, for the rows of a relation.
 */
export type CallKind = "inferred" | "generated" | "related";

/**
 * The name of a method of a repository. In errors, all methods that watch have the operation
 * `watch`.
 */
export type RepositoryMethod = Operation | "watchMany" | "watchSearch";

/** The names of the options that each method accepts. */
export type AllowedOptions = Readonly<Record<RepositoryMethod, ReadonlySet<string>>>;

const shape = ["select", "include", "withVersionstamp"];
const rows = ["where", "orderBy", "index", "filter", "maxReads"];
const page = ["take", "cursor"];
const unique = new Set(["where", "maxReads", "signal", ...shape]);
const uniqueWithDeleted = new Set([...unique, "withDeleted"]);
const first = new Set([...rows, "signal", "cursor", ...shape]);
const watched = new Set([...rows, "signal", ...page, ...shape]);
const list = new Set([...watched, "skip"]);
const listWithDeleted = new Set([...list, "withDeleted"]);
const count = new Set([...rows, "signal"]);
const aggregates = ["where", "index", "maxReads", "signal", "count", "sum", "avg", "min", "max"];
const search = new Set([
  "query",
  "where",
  "index",
  "typos",
  "filter",
  "maxReads",
  "signal",
  ...page,
  ...shape,
]);
const many = new Set([...rows, "take", "atomic", ...shape]);

/** The options of a repository whose types are inferred: those in the types of `Repository`. */
export const allowedOptions: AllowedOptions = {
  findUnique: uniqueWithDeleted,
  findUniqueOrThrow: uniqueWithDeleted,
  findFirst: first,
  findFirstOrThrow: first,
  findMany: listWithDeleted,
  scan: new Set(["orderBy", "filter", "maxReads", "signal", "withDeleted", ...page, ...shape]),
  count,
  exists: count,
  aggregate: new Set(aggregates),
  groupBy: new Set([...aggregates, "by", "orderBy", "having", "take"]),
  rank: new Set(["where", "index", "by", "order", "maxReads", "signal"]),
  distinct: new Set(["field", "where", "order", "index", "take", "maxReads", "signal"]),
  explain: list,
  search,
  explainSearch: search,
  watch: unique,
  watchMany: watched,
  watchSearch: search,
  create: new Set(["data", "expireIn", ...shape]),
  createMany: new Set(["data", "expireIn", "atomic", "skipDuplicates", ...shape]),
  update: new Set(["where", "data", "expireIn", "ifVersion", ...shape]),
  updateMany: new Set([...many, "data", "expireIn"]),
  upsert: new Set(["where", "create", "update", "expireIn", "ifVersion", ...shape]),
  delete: new Set(["where", "ifVersion", ...shape]),
  deleteMany: many,
  restore: new Set(["where", "cascade", "ifVersion", ...shape]),
  purge: new Set(["where", "before"]),
  changes: new Set(["after", "where", "filter", "live", "signal"]),
  history: new Set(["where", "take", "cursor", "maxScan", "maxReads", "signal"]),
  restoreRow: new Set(["where", "versionstamp", "ifVersion"]),
};

/**
 * The options of a generated repository. `index` also names the unique index of a row, and `order`
 * is the direction in which an index is read.
 */
export const generatedOptions: AllowedOptions = {
  ...allowedOptions,
  ...withOptions(
    ["index"],
    ["findUnique", "findUniqueOrThrow", "watch", "update", "upsert", "delete"],
  ),
  ...withOptions(["order"], ["scan", "groupBy"]),
  ...withOptions(["whereRelated"], ["count", "exists"]),
  ...withOptions(["order", "whereRelated"], ["findMany", "watchMany", "updateMany", "deleteMany"]),
  // The first row and the explanation of a list have the options of the list.
  ...withOptions(
    ["order", "whereRelated", "withDeleted"],
    ["findFirst", "findFirstOrThrow", "explain"],
  ),
};

function withOptions(
  options: readonly string[],
  methods: readonly RepositoryMethod[],
): Partial<AllowedOptions> {
  return Object.fromEntries(
    methods.map((method) => [method, new Set([...allowedOptions[method], ...options])]),
  );
}
