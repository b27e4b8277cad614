import { type KvKeyPart, specificationOrder } from "@keywright/core";
import type { TableContext } from "../context/table-context.js";
import { RowReferencedError } from "../errors/row-errors.js";
import { isSameKey } from "../indexes/key-parts.js";
import { pointerOf, rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { type KeyId, keyIdOf } from "../transaction/buffer/key-id.js";
import { isReferenceTo } from "./referenced-key.js";
import {
  beginSearches,
  firstReferrer,
  nextReferrer,
  type Referrer,
  type ReferrerCursor,
  type ReferrerSearch,
  tableOfModel,
} from "./referrers.js";

/** The maximum number of visited rows that are remembered, so that they are not visited again. */
const maxRemembered = 100_000;

/** A row on the path of the search, and the position in the list of its referrers. */
interface Visit {
  readonly id: KeyId;
  readonly model: CompiledModel;
  readonly primaryKey: readonly KvKeyPart[];
  readonly searches: readonly ReferrerSearch[];
  cursor: ReferrerCursor;
}

/**
 * Checks that the deletion of a row is not restricted: no other row may refer to it, or to a row
 * that would be deleted with it, by a relation with `onDelete: "restrict"`. The search is depth
 * first. It holds in memory the path to the current row and the keys of up to 100,000 visited rows.
 *
 * @throws {RowReferencedError} if there is such a reference.
 * @throws {IndexNotReadyError} if an index that finds referring rows is not built.
 */
export async function findRestriction(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
): Promise<void> {
  const restricted = restrictedModels(tables);
  const seen = new Set<KeyId>();
  const onPath = new Set<KeyId>();
  const path: Visit[] = [];
  const visit = async (visited: CompiledModel, key: readonly KvKeyPart[]) => {
    const id = keyIdOf(rowKey(visited, key), specificationOrder);
    if (!restricted.has(visited.name) || seen.has(id) || onPath.has(id)) return;
    if (seen.size < maxRemembered) seen.add(id);
    onPath.add(id);
    const references = tableOfModel(tables, visited).links.referencedBy.filter(
      ({ onDelete, model: referring }) =>
        onDelete === "restrict" || (onDelete === "cascade" && restricted.has(referring.name)),
    );
    const searches = await beginSearches(tables, references);
    path.push({ id, model: visited, primaryKey: key, searches, cursor: firstReferrer });
  };
  await visit(model, primaryKey);
  for (let current = path.at(-1); current !== undefined; current = path.at(-1)) {
    const next = await nextReferrer(tables, current.searches, current.primaryKey, current.cursor);
    if (next === undefined) {
      path.pop();
      onPath.delete(current.id);
      continue;
    }
    current.cursor = next.cursor;
    const { reference } = next.referrer;
    if (!(await isReferring(tables, current.primaryKey, next.referrer))) continue;
    if (reference.onDelete === "restrict") assertUnrestricted(current, next.referrer);
    else await visit(reference.model, next.referrer.primaryKey);
  }
}

/**
 * Refuses the deletion of a row that another row refers to by a restricting relation.
 *
 * @throws {RowReferencedError} unless the referrer is the row itself.
 */
export function assertUnrestricted(
  row: { readonly model: CompiledModel; readonly primaryKey: readonly KvKeyPart[] },
  { reference, primaryKey }: Referrer,
): void {
  if (isSameRow(row, reference.model, primaryKey)) return;
  const { model, relation } = reference;
  const by = { model: model.name, relation, id: pointerOf(primaryKey) };
  throw new RowReferencedError(row.model.name, pointerOf(row.primaryKey), by);
}

/** True if the stored row of a referrer refers to a primary key. Index entries may be outdated. */
export async function isReferring(
  tables: ReadonlyMap<string, TableContext>,
  primaryKey: readonly KvKeyPart[],
  { reference, primaryKey: referrerKey }: Referrer,
): Promise<boolean> {
  const { model, fields } = reference;
  const { value } = await tableOfModel(tables, model).kv.get<AnyRow>(rowKey(model, referrerKey));
  return value !== null && isReferenceTo(fields, value, primaryKey);
}

function isSameRow(
  row: { readonly model: CompiledModel; readonly primaryKey: readonly KvKeyPart[] },
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
): boolean {
  return row.model.name === model.name && isSameKey(row.primaryKey, primaryKey);
}

/**
 * Returns the names of the models whose rows may be protected by a restricting relation, directly
 * or through rows that would be deleted with them.
 */
function restrictedModels(tables: ReadonlyMap<string, TableContext>): ReadonlySet<string> {
  const restricted = new Set<string>();
  let size: number;
  do {
    ({ size } = restricted);
    for (const { model, links } of tables.values()) {
      const isRestricted = links.referencedBy.some(
        ({ onDelete, model: referring }) =>
          onDelete === "restrict" || (onDelete === "cascade" && restricted.has(referring.name)),
      );
      if (isRestricted) restricted.add(model.name);
    }
  } while (restricted.size > size);
  return restricted;
}
