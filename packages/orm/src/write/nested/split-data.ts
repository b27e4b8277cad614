import type { AnyRow } from "../../model/compiled-model.js";
import type { LinkedRelation } from "../../model/relations/linked-relations.js";
import type { TableContext } from "../../state/context/table-context.js";
import {
  type DataPath,
  type NestedOperation,
  parseOperations,
  type Refuse,
} from "./nested-operation.js";

/** The operations that the data of a row has for one relation. */
export interface RelationWrite {
  readonly link: LinkedRelation;
  readonly path: DataPath;
  readonly operations: readonly NestedOperation[];
}

/** The data of a row: its own fields, and what is written through its relations. */
export interface SplitData {
  readonly fields: AnyRow;
  readonly relations: readonly RelationWrite[];
}

/** True if the data of a write has operations for a relation. */
export function hasRelations(context: TableContext, data: unknown): data is AnyRow {
  if (typeof data !== "object" || data === null) return false;
  for (const name of context.links.relations.keys()) {
    if (isRelation(context, data as AnyRow, name)) return true;
  }
  return false;
}

/** Separates the fields of a row from the operations on its relations. */
export function splitData(
  context: TableContext,
  data: AnyRow,
  path: DataPath,
  isNew: boolean,
  refuse: Refuse,
): SplitData {
  const fields: Record<string, unknown> = { ...data };
  const relations: RelationWrite[] = [];
  for (const [name, link] of context.links.relations) {
    if (!isRelation(context, data, name)) continue;
    delete fields[name];
    const at = [...path, name];
    const operations = parseOperations(link.relation, data[name], at, isNew, refuse);
    relations.push({ link, path: at, operations });
  }
  return { fields, relations };
}

/** A field of the schema has precedence over a relation with the same name. */
function isRelation({ model }: TableContext, data: AnyRow, name: string): boolean {
  if (!Object.hasOwn(data, name) || data[name] === undefined) return false;
  return !Object.hasOwn(model.schema._zod.def.shape, name);
}
