import { changeMarkOfRead } from "../../derived/changes/change-marks.js";
import { InvalidArgumentError, LiveQueryUnavailableError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { AnyInclude, AnyQuery } from "../../state/context/any-query.js";
import type { TableContext } from "../../state/context/table-context.js";
import { countedModel, countedRelations } from "../include/load-counts.js";
import { canWatchRanges, type Watched } from "./watched.js";

/** The number of keys that are watched for a row: the row, its index entry and the catalog. */
const keysOfRow = 3;

/** Returns the models whose rows an `include` reads at any depth, including models between. */
export function relatedModels(
  context: TableContext,
  include: AnyInclude | undefined,
): ReadonlySet<CompiledModel> {
  const found = new Set<CompiledModel>();
  for (const { link } of countedRelations(context, include ?? {})) found.add(countedModel(link));
  for (const [name, option] of Object.entries(include ?? {})) {
    const link = context.links.relations.get(name);
    // The first read refuses names that are not relations.
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
 * Returns what to watch for the rows of all models that a query includes, or that its conditions on
 * related rows read.
 *
 * @throws {LiveQueryUnavailableError} if the database cannot watch ranges and one of the models is
 * not `live: true`.
 * @throws {InvalidArgumentError} if such a database cannot watch as many models at once.
 */
export function relatedWatched(context: TableContext, query: AnyQuery): Watched {
  const { include, related } = query;
  const models = [...new Set([...relatedModels(context, include), ...(related?.models ?? [])])];
  const ranges = models.map(({ place }) => ({ prefix: [place] }));
  if (canWatchRanges(context.kv)) return { keys: [], ranges, marks: [] };
  const maxModels = context.limits.keys - keysOfRow;
  if (models.length > maxModels) {
    const reason = `this database can watch at most ${maxModels} related models, but ${models.length} are read; include fewer`;
    throw new InvalidArgumentError(context.model.name, "include", reason);
  }
  for (const { live, name } of models) if (!live) throw new LiveQueryUnavailableError(name);
  return { keys: [], ranges, marks: models.map((model) => changeMarkOfRead(model, undefined, [])) };
}
