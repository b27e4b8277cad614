import type { KvKeyPart } from "@keywright/core";
import { failureReason } from "../../errors/failure-reason.js";
import { RowInvalidError, StoredRowInvalidError } from "../../errors/row-errors.js";
import type { RowIssue } from "../../errors/row-issue.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { synchronousOutputSchema } from "../../model/fields/output-schema.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { primaryKeyOf } from "../../model/keys/primary-key.js";

export interface RowFailure {
  /** A sentence for people. */
  readonly reason: string;
  /** The issues that the schema found in the changed row. */
  readonly issues?: readonly RowIssue[];
}

/** The new form of a row of an earlier schema, or the reason why there is none. */
export type UpgradedRow =
  | { readonly ok: true; readonly row: AnyRow }
  | { readonly ok: false; readonly failure: RowFailure };

/**
 * Changes a row of an earlier schema to a row of the model. The new row must match the schema, keep
 * its primary key, and have the fields of the indexes that must hold every row.
 *
 * @param stored the stored value, which is not modified.
 */
export function upgradeRow(
  model: CompiledModel,
  up: (row: AnyRow) => AnyRow,
  stored: unknown,
  primaryKey: readonly KvKeyPart[],
): UpgradedRow {
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) {
    return fail("The stored value is not an object.");
  }
  try {
    const row = up(stored as AnyRow);
    const { error } = synchronousOutputSchema(model.schema).safeParse(row);
    if (error !== undefined) throw new RowInvalidError(model.name, { error, schema: model.schema });
    if (!isSameKey(primaryKeyOf(model, row), primaryKey)) {
      return fail("The migration changes its primary key.");
    }
    for (const [field, index] of model.requiredFields) {
      if (row[field] !== undefined && row[field] !== null) continue;
      return fail(
        `The changed row lacks ${JSON.stringify(field)}, which the index ${index} needs.`,
      );
    }
    return { ok: true, row };
  } catch (error) {
    const isInvalid = error instanceof StoredRowInvalidError || error instanceof RowInvalidError;
    if (!isInvalid) return fail(failureReason(error));
    return fail(failureReason(error), error.issues);
  }
}

function fail(reason: string, issues?: readonly RowIssue[]): UpgradedRow {
  return { ok: false, failure: { reason, ...(issues !== undefined && { issues }) } };
}
