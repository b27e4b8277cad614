import type { AnyInclude } from "../context/any-query.js";
import type { TableContext } from "../context/table-context.js";
import { InvalidArgumentError, LiveQueryUnavailableError } from "../errors/query-errors.js";
import { changeMarkOfRead } from "../indexes/change-marks.js";
import type { CompiledModel } from "../model/compiled-model.js";
import { tellsOfRanges, type Watched } from "./watched.js";

/** A row, the index entry that points to it and its model's catalog take so many of the keys that are watched at once. */
const keysOfRow = 3;

/** The models whose rows an `include` loads or goes through, at any depth, each of them once. */
export function relatedModels(
  context: TableContext,
  include: AnyInclude | undefined,
): ReadonlySet<CompiledModel> {
  const found = new Set<CompiledModel>();
  for (const [name, option] of Object.entries(include ?? {})) {
    const link = context.links.relations.get(name);
    // What is no relation the first read refuses.
    if (!option || link === undefined) continue;
    found.add(link.target);
    if (link.through !== undefined) found.add(link.through);
    const target = context.tables.get(link.target.name);
    if (typeof option !== "object" || target === undefined) continue;
    for (const model of relatedModels(target, option.include)) found.add(model);
  }
  return found;
}

/**
 * Every row of the models that an `include` leads to.
 *
 * @throws {LiveQueryUnavailableError} where the database tells of no ranges, and one of the models keeps no marks.
 * @throws {InvalidArgumentError} for more models than such a database watches at once.
 */
export function relatedWatched(context: TableContext, include: AnyInclude | undefined): Watched {
  const models = [...relatedModels(context, include)];
  const ranges = models.map(({ prefix }) => ({ prefix: [prefix] }));
  if (tellsOfRanges(context.kv)) return { keys: [], ranges, marks: [] };
  const most = context.limits.keys - keysOfRow;
  if (models.length > most) {
    const reason = `this database can watch the rows of ${most} other models at the most`;
    throw new InvalidArgumentError(context.model.name, "include", reason);
  }
  for (const { live, name } of models) if (!live) throw new LiveQueryUnavailableError(name);
  return { keys: [], ranges, marks: models.map((model) => changeMarkOfRead(model, undefined, [])) };
}
