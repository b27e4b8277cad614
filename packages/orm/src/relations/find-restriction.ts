import { type KvKeyPart, specificationOrder } from "@keywright/core";
import type { TableContext } from "../context/table-context.js";
import { RowReferencedError } from "../errors/row-errors.js";
import { isSameKey } from "../indexes/key-parts.js";
import { pointerOf, rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { type KeyId, keyIdOf } from "../transaction/key-id.js";
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

/** So many rows are remembered so that nobody looks at them twice. */
const maxRemembered = 100_000;

interface Visit {
  readonly id: KeyId;
  readonly model: CompiledModel;
  readonly primaryKey: readonly KvKeyPart[];
  readonly searches: readonly ReferrerSearch[];
  cursor: ReferrerCursor;
}

/**
 * Looks through all rows that would be deleted with a row for one to which another refers by a relation with
 * `onDelete: "restrict"`. Holds no more than the rows on the way to where it looks, and the keys of some that it has seen.
 *
 * @throws {RowReferencedError} where there is one.
 * @throws {IndexNotReadyError} where an index by which they are found is not built.
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
  for (let on = path.at(-1); on !== undefined; on = path.at(-1)) {
    const next = await nextReferrer(tables, on.searches, on.primaryKey, on.cursor);
    if (next === undefined) {
      path.pop();
      onPath.delete(on.id);
      continue;
    }
    on.cursor = next.cursor;
    const { reference } = next.referrer;
    if (!(await isReferring(tables, on.primaryKey, next.referrer))) continue;
    if (reference.onDelete === "restrict") assertUnrestricted(on, next.referrer);
    else await visit(reference.model, next.referrer.primaryKey);
  }
}

/** @throws {RowReferencedError} for one who refers by a restricting relation, unless that is the row itself. */
export function assertUnrestricted(
  row: { readonly model: CompiledModel; readonly primaryKey: readonly KvKeyPart[] },
  { reference, primaryKey }: Referrer,
): void {
  if (isSameRow(row, reference.model, primaryKey)) return;
  const { model, relation } = reference;
  const by = { model: model.name, relation, id: pointerOf(primaryKey) };
  throw new RowReferencedError(row.model.name, pointerOf(row.primaryKey), by);
}

/** Whether a row really refers to a primary key now. */
export async function isReferring(
  tables: ReadonlyMap<string, TableContext>,
  primaryKey: readonly KvKeyPart[],
  { reference, primaryKey: own }: Referrer,
): Promise<boolean> {
  const { model, fields } = reference;
  const { value } = await tableOfModel(tables, model).kv.get<AnyRow>(rowKey(model, own));
  return value !== null && isReferenceTo(fields, value, primaryKey);
}

function isSameRow(
  row: { readonly model: CompiledModel; readonly primaryKey: readonly KvKeyPart[] },
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
): boolean {
  return row.model.name === model.name && isSameKey(row.primaryKey, primaryKey);
}

/** The models of whose rows one may be restricted, itself or by what would be deleted with it. */
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
