import { isKeywrightError } from "@keywright/orm";
import type { AnyRepository } from "../source/source.js";

/** A count without a counter reads an entry for each row. */
const maxCounted = 100_000;

/** Returns the number of rows of a query, or null if that would need too many reads. */
export async function countRows(repository: AnyRepository, query: object): Promise<number | null> {
  try {
    return await repository.count({ ...query, maxReads: maxCounted });
  } catch (error) {
    if (isKeywrightError(error) && error.code === "KW_READ_LIMIT") return null;
    throw error;
  }
}
