import { VersionConflictError } from "../../errors/row-errors.js";

/** So often rows are read with their relations, where others keep deleting what they refer to meanwhile. */
const maxAttempts = 5;

/**
 * Makes a read again where a row was deleted together with one that it refers to, after the one and before the other was
 * read.
 *
 * @param read is told the number of the attempt, from 1 on.
 * @throws {VersionConflictError} where that has happened five times.
 */
export async function rereadTorn<T>(read: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read(attempt);
    } catch (error) {
      if (!(error instanceof VersionConflictError) || attempt === maxAttempts) throw error;
    }
  }
}
