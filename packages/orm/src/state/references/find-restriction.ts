import type { KvKeyPart } from "@keywright/core";
import { RowReferencedError } from "../../errors/row-errors.js";
import { ScopeError } from "../../errors/scope-error.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { pointerOf, rowKey } from "../../model/keys/primary-key.js";
import { isMarked } from "../../model/options/soft-delete.js";
import type { Reference } from "../../model/relations/linked-relations.js";
import { isInScope } from "../context/scope.js";
import type { RelatedStore } from "../context/table-context.js";
import type { KeyId } from "../transaction/buffer/key-id.js";
import { isReferenceTo, rowIdOf } from "./referenced-key.js";
import {
  beginSearches,
  firstReferrer,
  nextReferrer,
  type Referrer,
  type ReferrerCursor,
  type ReferrerSearch,
  tableOfModel,
} from "./referrers.js";

/** How many visited rows are remembered, so that they are not visited again. */
const maxRemembered = 100_000;

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
  tables: ReadonlyMap<string, RelatedStore>,
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
): Promise<void> {
  const restricted = restrictedModels(tables);
  const seen = new Set<KeyId>();
  const onPath = new Set<KeyId>();
  const path: Visit[] = [];
  const visit = async (visited: CompiledModel, key: readonly KvKeyPart[]) => {
    const id = rowIdOf(visited, key);
    if (!restricted.has(visited.name) || seen.has(id) || onPath.has(id)) return;
    if (seen.size < maxRemembered) seen.add(id);
    onPath.add(id);
    const { referencedBy } = tableOfModel(tables, visited).links;
    const references = referencedBy.filter((each) => mayRestrict(each, restricted));
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
  const { model, relation } = reference;
  if (row.model.name === model.name && isSameKey(row.primaryKey, primaryKey)) return;
  const by = { model: model.name, relation, id: pointerOf(primaryKey) };
  throw new RowReferencedError(row.model.name, pointerOf(row.primaryKey), by);
}

/**
 * True if the stored row of a referrer refers to a primary key, and is not marked as deleted. Index
 * entries may be outdated.
 */
export async function isReferring(
  tables: ReadonlyMap<string, RelatedStore>,
  primaryKey: readonly KvKeyPart[],
  { reference, primaryKey: referrerKey }: Referrer,
): Promise<boolean> {
  const { model, fields } = reference;
  const table = tableOfModel(tables, model);
  const { value } = await table.kv.get<AnyRow>(rowKey(model, referrerKey));
  if (value === null || isMarked(model, value)) return false;
  const refers = isReferenceTo(fields, value, primaryKey);
  if (refers) assertReferrerInScope(table, value);
  return refers;
}

/**
 * Refuses to delete a row that a row outside of the scope refers to, which only a program without
 * the scope can have written. The deletion would change that row, or leave its reference dangling.
 *
 * @throws {ScopeError} that does not tell which row it is.
 */
export function assertReferrerInScope(context: RelatedStore, row: AnyRow): void {
  if (isInScope(context, row)) return;
  const reason = "a row outside of the scope refers to the row; delete it without the scope";
  throw new ScopeError(context.model.name, "", reason);
}

/**
 * Returns the names of the models whose rows may be protected by a restricting relation, directly
 * or through rows that would be deleted with them.
 */
function restrictedModels(tables: ReadonlyMap<string, RelatedStore>): ReadonlySet<string> {
  const restricted = new Set<string>();
  let size: number;
  do {
    ({ size } = restricted);
    for (const { model, links } of tables.values()) {
      if (links.referencedBy.some((each) => mayRestrict(each, restricted))) {
        restricted.add(model.name);
      }
    }
  } while (restricted.size > size);
  return restricted;
}

function mayRestrict({ onDelete, model }: Reference, restricted: ReadonlySet<string>): boolean {
  return onDelete === "restrict" || (onDelete === "cascade" && restricted.has(model.name));
}
