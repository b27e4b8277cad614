import { KeywrightError, type KvKeyPart } from "@keywright/core";
import {
  IndexKeyError,
  ReferenceMissingError,
  RowInvalidError,
  RowReferencedError,
  UniqueConstraintError,
} from "../../errors/row-errors.js";
import type { TableContext } from "../../state/context/table-context.js";
import { deleteJobKey } from "../../state/references/guard-keys.js";
import { isHookError } from "../input/row-hooks.js";

/** The errors with which rows, relations and schemas refuse a deletion. */
const refusalErrors = [
  RowReferencedError,
  RowInvalidError,
  UniqueConstraintError,
  ReferenceMissingError,
  IndexKeyError,
] as const;

/** Runs a part of a deletion, and removes the job of the row if the deletion is refused. */
export async function removeJobIfRefused<T>(
  { kv, model }: TableContext,
  primaryKey: readonly KvKeyPart[],
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isRefusal(error)) {
      const job = await kv.get(deleteJobKey(model, primaryKey));
      if (job.versionstamp !== null) await kv.atomic().check(job).delete(job.key).commit();
    }
    throw error;
  }
}

/**
 * True if an error refuses the deletion: a hook threw it, or it would be thrown again. False for
 * errors that have nothing to do with the rows, such as a lost connection or an outdated schema.
 */
function isRefusal(error: unknown): boolean {
  if (error instanceof KeywrightError && error.retryable) return false;
  return isHookError(error) || refusalErrors.some((refusalError) => error instanceof refusalError);
}
