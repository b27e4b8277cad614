import type { CompiledModel } from "../../model/compiled-model.js";
import type { AnyInclude } from "../../state/context/any-query.js";
import type { RelatedModel } from "../../state/context/table-context.js";
import { countedModel, countedRelations } from "./load-counts.js";

/** Returns the models whose rows an `include` reads. Leaves out what is not a relation. */
export function includedModels(
  model: RelatedModel,
  include: AnyInclude | undefined,
): readonly CompiledModel[] {
  if (typeof include !== "object" || include === null) return [];
  const { links, tables } = model;
  const counted = countedRelations(model, include).map(({ link }) => countedModel(link));
  const included = Object.entries(include).flatMap(([name, option]) => {
    const link = links.relations.get(name);
    const target = link && tables.get(link.target.name);
    if (link === undefined || target === undefined || !option) return [];
    const nested = option === true ? [] : includedModels(target, option.include);
    return [link.target, ...(link.through ? [link.through] : []), ...nested];
  });
  return [...included, ...counted];
}
