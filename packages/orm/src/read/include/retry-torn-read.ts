import { VersionConflictError } from "../../errors/row-errors.js";
import { FailedAttempt, retry } from "../../state/transaction/retry.js";

const maxAttempts = 5;

/**
 * Reads rows with their relations. Repeats the read if a row was deleted together with a row that
 * it refers to, between the reads of the two.
 *
 * @param read is called with the number of the attempt, beginning with 1.
 * @throws {VersionConflictError} if this has happened five times.
 */
export async function retryTornRead<T>(read: (attempt: number) => Promise<T>): Promise<T> {
  const readOnce = async (attempt: number) => {
    try {
      return await read(attempt);
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error;
      return new FailedAttempt(() => error);
    }
  };
  return await retry(readOnce, { maxAttempts });
}
