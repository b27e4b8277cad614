import type { KvKeyPart } from "@keywright/core";
import type { CompiledModel } from "../../../model/compiled-model.js";
import type { OnRefused } from "../../../model/keys/expected-entries.js";
import { pointerOf } from "../../../model/keys/primary-key.js";
import type { UnindexedRow, UnindexedRows } from "../../../state/catalog/backfill-state.js";

/** The maximum number of unindexed rows that are stored, and of characters that they may have. */
const maxUnindexed = 100;
const maxUnindexedText = 16_000;
/** The maximum length of a reason. A function may throw an error with a message of any length. */
const maxReasonLength = 500;

/** The reason if the database does not accept the key that the row would have in the index. */
export const unstorableKey =
  "Its key in the index is too long, or contains text that is not well-formed.";

/** The callback adds the row to the list once for each reason, with all its indexes. */
export function noteRefused(
  { name: model }: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  unindexed: UnindexedRow[],
): OnRefused {
  let namesByReason: Map<string, string[]> | undefined;
  return (indexes, reason) => {
    const names = indexes.map(({ name }) => name);
    namesByReason ??= new Map();
    const existing = namesByReason.get(reason);
    if (existing !== undefined) {
      existing.push(...names);
      return;
    }
    namesByReason.set(reason, names);
    unindexed.push({
      model,
      id: pointerOf(primaryKey),
      indexes: names,
      reason: reason.length > maxReasonLength ? `${reason.slice(0, maxReasonLength)}…` : reason,
    });
  };
}

/** Adds rows to those that could not be indexed. All are counted, but only the first are stored. */
export function withUnindexed(
  previous: UnindexedRows | undefined,
  rows: readonly UnindexedRow[],
): UnindexedRows | undefined {
  if (rows.length === 0) return previous;
  const kept = [...(previous?.rows ?? [])];
  let text = JSON.stringify(kept, plainKeyPart).length;
  for (const row of rows) {
    text += JSON.stringify(row, plainKeyPart).length;
    if (kept.length === maxUnindexed || text > maxUnindexedText) break;
    kept.push(row);
  }
  return { count: (previous?.count ?? 0) + rows.length, rows: kept };
}

function plainKeyPart(_: string, part: unknown): unknown {
  return typeof part === "bigint" ? `${part}n` : part;
}
