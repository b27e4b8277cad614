import { KeywrightError, LimitExceededError } from "@keywright/core";
import { OrmError, type RowId } from "../errors/orm-error.js";
import {
  ReferenceMissingError,
  RowInvalidError,
  type RowIssue,
  StoredRowInvalidError,
  UniqueConstraintError,
} from "../errors/row-errors.js";
import type { FailedRow } from "./adopt-result.js";
import { partsOf } from "./source/source-layout.js";

const mostIssues = 10;
/** So that a hundred of them fit into one commit of any database, in characters. */
const longestReason = 300;
const longestMessage = 200;

/** Says, as data that can be stored, why a document did not become a row. */
export function failedRow(id: RowId, error: unknown): FailedRow {
  const code = error instanceof KeywrightError ? error.code : undefined;
  const issues = issuesOf(error).slice(0, mostIssues);
  return { id, reason: reasonOf(error).slice(0, longestReason), code, issues };
}

/** Whether what a write threw is about the row that it wrote: others may be written all the same. */
export function isOfRow(error: unknown): boolean {
  // A database refuses keys and values that are too long, or that it cannot hold, with a TypeError.
  return (
    error instanceof OrmError || error instanceof LimitExceededError || error instanceof TypeError
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof UniqueConstraintError) {
    return `The row ${words(error.ownerId)} has its value of ${error.index}.`;
  }
  if (error instanceof ReferenceMissingError) {
    return `It refers by ${error.relation} to the row ${words(error.targetId)} of ${error.target}, which is not there.`;
  }
  return error instanceof Error ? error.message : String(error);
}

function issuesOf(error: unknown): readonly RowIssue[] {
  const hasIssues = error instanceof RowInvalidError || error instanceof StoredRowInvalidError;
  if (!hasIssues) return [];
  // A symbol is no value that can be stored.
  return error.issues.map(({ path, code, message }) => ({
    path: path.map((part) => (typeof part === "symbol" ? String(part) : part)),
    code,
    message: message.slice(0, longestMessage),
  }));
}

function words(id: RowId): string {
  return partsOf(id)
    .map((part) => (typeof part === "string" ? JSON.stringify(part) : String(part)))
    .join(", ");
}
