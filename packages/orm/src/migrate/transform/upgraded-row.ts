import type { KvKeyPart } from "@keywright/core";
import { messageOf } from "../../errors/message-of.js";
import { RowInvalidError, type RowIssue, StoredRowInvalidError } from "../../errors/row-errors.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { primaryKeyOf } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { assertStoredRow } from "../../model/stored-row.js";

/** Why a row cannot be changed. */
export interface RowFailure {
  /** A sentence. */
  readonly reason: string;
  /** What its schema finds wrong with the row that it would become. */
  readonly issues?: readonly RowIssue[];
}

/** What a row of an earlier schema becomes, or why nothing. */
export type UpgradedRow =
  | { readonly ok: true; readonly row: AnyRow }
  | { readonly ok: false; readonly failure: RowFailure };

/**
 * Makes a row of an earlier schema one of the model's, and looks whether it is one: it has to fit the schema, to keep its
 * primary key, and to have what indexes need that are to hold every row.
 *
 * @param stored what is stored; it stays as it is.
 */
export function upgradeRow(
  model: CompiledModel,
  up: (row: AnyRow) => AnyRow,
  stored: unknown,
  primaryKey: readonly KvKeyPart[],
): UpgradedRow {
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) {
    return failed("What is stored is no row: it is not an object.");
  }
  try {
    const row: unknown = up(stored as AnyRow);
    assertStoredRow(model, row, primaryKey);
    if (!isSameKey(primaryKeyOf(model, row), primaryKey)) {
      return failed("It would get another primary key.");
    }
    for (const [field, index] of model.requiredFields) {
      if (row[field] !== undefined && row[field] !== null) continue;
      return failed(`It would have no ${JSON.stringify(field)}, which the index ${index} needs.`);
    }
    return { ok: true, row };
  } catch (error) {
    const isInvalid = error instanceof StoredRowInvalidError || error instanceof RowInvalidError;
    if (!isInvalid) return failed(messageOf(error));
    return failed(messageOf(error), error.issues);
  }
}

function failed(reason: string, issues?: readonly RowIssue[]): UpgradedRow {
  return { ok: false, failure: { reason, ...(issues !== undefined && { issues }) } };
}
