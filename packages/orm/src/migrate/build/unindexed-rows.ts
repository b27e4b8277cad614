import type { KvKeyPart } from "@keywright/core";
import type { UnindexedRow, UnindexedRows } from "../../catalog/backfill-state.js";
import type { IndexKeyError } from "../../errors/row-errors.js";
import { pointerOf } from "../../indexes/primary-key.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";

/** So many rows are told of that could not be indexed, and so many characters are kept of them. */
const mostUnindexed = 100;
const mostUnindexedText = 16_000;
/** A reason is cut behind so many characters: what a function throws may be of any length. */
const longestReason = 500;

/** Why no index holds what is stored, where that is no row. */
export const noObject = "It is not an object.";

/** Why an index cannot hold a row whose key is none of the database's. */
export const unstorableKey =
  "The database does not take its key in the index: it is too long, or has text that is not well-formed.";

/** Why an index cannot hold a row, by what making its entries threw. */
export function unindexedReason({ field, valueType, cause }: IndexKeyError): string {
  if (cause instanceof Error) return `${field}: ${cause.message}`;
  return `${field} is of type ${valueType}, which no key can hold.`;
}

/** Told of indexes that cannot hold a row, and why. */
export type OnRefused = (indexes: readonly CompiledIndex[], reason: string) => void;

/** Notes for which reasons indexes cannot hold a row: once for each, with all indexes of which it is one. */
export function noteRefused(
  { name: model }: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  unindexed: UnindexedRow[],
): OnRefused {
  let noted: Map<string, string[]> | undefined;
  return (indexes, reason) => {
    const names = indexes.map(({ name }) => name);
    noted ??= new Map();
    const before = noted.get(reason);
    if (before !== undefined) {
      before.push(...names);
      return;
    }
    noted.set(reason, names);
    unindexed.push({
      model,
      id: pointerOf(primaryKey),
      indexes: names,
      reason: reason.length > longestReason ? `${reason.slice(0, longestReason)}…` : reason,
    });
  };
}

/** Adds rows to those that could not be indexed. */
export function withUnindexed(
  before: UnindexedRows | undefined,
  rows: readonly UnindexedRow[],
): UnindexedRows | undefined {
  if (rows.length === 0) return before;
  const kept = [...(before?.rows ?? [])];
  let text = JSON.stringify(kept, plainKeyPart).length;
  for (const row of rows) {
    text += JSON.stringify(row, plainKeyPart).length;
    if (kept.length === mostUnindexed || text > mostUnindexedText) break;
    kept.push(row);
  }
  return { count: (before?.count ?? 0) + rows.length, rows: kept };
}

/** A primary key may have parts that JSON has not. */
function plainKeyPart(_: string, part: unknown): unknown {
  return typeof part === "bigint" ? `${part}n` : part;
}
