import type { KvKeyPart } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import { AmountInvalidError } from "../../errors/row-errors.js";
import { isAbsent } from "../../indexes/index-entries.js";
import { pointerOf } from "../../indexes/primary-key.js";
import { amountOf } from "../../model/aggregates/amount.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";

/**
 * Checks that the values of a row can be added to the sums of the model.
 *
 * @throws {AmountInvalidError} if a value has more digits than a sum holds.
 */
export function assertSummable(
  model: CompiledModel,
  { counters, growingCounters, writeModel }: CatalogSnapshot,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): void {
  if (counters === undefined && growingCounters === undefined) return;
  for (const { sum } of writeModel.counters) {
    if (sum === undefined || isAbsent(row[sum.field])) continue;
    if (amountOf(sum, row[sum.field]) !== undefined) continue;
    throw new AmountInvalidError(model.name, sum.field, sum.scale, pointerOf(primaryKey));
  }
}
