import type { TableContext } from "../context/table-context.js";
import { IndexChangedError, IndexNotReadyError } from "../errors/schema-errors.js";

/**
 * Reads again, by another index, if the index that a read has chosen was replaced or dropped before
 * the read ended.
 *
 * @param read chooses an index and reads by it. Returns nothing before it ends.
 */
export async function readAgain<T>({ catalog }: TableContext, read: () => Promise<T>): Promise<T> {
  for (;;) {
    const { snapshot } = catalog;
    try {
      return await read();
    } catch (error) {
      const isUnreadable =
        error instanceof IndexNotReadyError || error instanceof IndexChangedError;
      if (!isUnreadable || catalog.snapshot === snapshot) throw error;
    }
  }
}
