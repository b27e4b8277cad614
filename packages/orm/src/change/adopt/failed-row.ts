import { KeywrightError, LimitExceededError } from "@keywright/core";
import { OrmError, type RowId } from "../../errors/orm-error.js";
import {
  ReferenceMissingError,
  RowInvalidError,
  StoredRowInvalidError,
  UniqueConstraintError,
} from "../../errors/row-errors.js";
import type { RowIssue } from "../../errors/row-issue.js";
import { partsOfId } from "../../model/keys/primary-key.js";
import type { AdoptFailure } from "./adopt-result.js";

const maxIssues = 10;
/** In characters. A hundred reports of this length fit into one commit of any database. */
const maxReasonLength = 300;
const maxMessageLength = 200;

export function failedRow(id: RowId, error: unknown): AdoptFailure {
  const code = error instanceof KeywrightError ? error.code : undefined;
  const issues = issuesOf(error).slice(0, maxIssues);
  return { id, reason: reasonOf(error).slice(0, maxReasonLength), code, issues };
}

/** True if an error concerns only its row, so that other rows can still be written. */
export function isOfRow(error: unknown): boolean {
  // A database throws a TypeError for keys and values that are too long or that it cannot hold.
  return (
    error instanceof OrmError || error instanceof LimitExceededError || error instanceof TypeError
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof UniqueConstraintError) {
    return `The row ${formatId(error.ownerId)} has the same value of the unique index ${error.index}.`;
  }
  if (error instanceof ReferenceMissingError) {
    return `Its relation ${error.relation} refers to the row ${formatId(error.targetId)} of ${error.target}, which does not exist.`;
  }
  return error instanceof Error ? error.message : String(error);
}

function issuesOf(error: unknown): readonly RowIssue[] {
  const hasIssues = error instanceof RowInvalidError || error instanceof StoredRowInvalidError;
  if (!hasIssues) return [];
  // A symbol cannot be stored.
  return error.issues.map(({ path, code, message }) => ({
    path: path.map((part) => (typeof part === "symbol" ? String(part) : part)),
    code,
    message: message.slice(0, maxMessageLength),
  }));
}

function formatId(id: RowId): string {
  return partsOfId(id)
    .map((part) => (typeof part === "string" ? JSON.stringify(part) : String(part)))
    .join(", ");
}
