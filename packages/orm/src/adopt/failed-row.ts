import { KeywrightError, LimitExceededError } from "@keywright/core";
import { OrmError, type RowId } from "../errors/orm-error.js";
import {
  ReferenceMissingError,
  RowInvalidError,
  StoredRowInvalidError,
  UniqueConstraintError,
} from "../errors/row-errors.js";
import type { RowIssue } from "../errors/row-issue.js";
import type { AdoptFailure } from "./adopt-result.js";
import { partsOf } from "./source/source-layout.js";

const maxIssues = 10;
/** In characters. A hundred reports of this length fit into one commit of any database. */
const maxReasonLength = 300;
const maxMessageLength = 200;

/** Returns a report that can be stored, from the error that kept a document from becoming a row. */
export function failedRow(id: RowId, error: unknown): AdoptFailure {
  const code = error instanceof KeywrightError ? error.code : undefined;
  const issues = issuesOf(error).slice(0, maxIssues);
  return { id, reason: reasonOf(error).slice(0, maxReasonLength), code, issues };
}

/**
 * Returns whether an error of a write concerns only its row, so that other rows can still be
 * written.
 */
export function isOfRow(error: unknown): boolean {
  // A database throws a TypeError for keys and values that are too long or that it cannot hold.
  return (
    error instanceof OrmError || error instanceof LimitExceededError || error instanceof TypeError
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof UniqueConstraintError) {
    return `The row ${formatId(error.ownerId)} has its value of ${error.index}.`;
  }
  if (error instanceof ReferenceMissingError) {
    return `It refers by ${error.relation} to the row ${formatId(error.targetId)} of ${error.target}, which is not there.`;
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
  return partsOf(id)
    .map((part) => (typeof part === "string" ? JSON.stringify(part) : String(part)))
    .join(", ");
}
