import { unexpired } from "../../derived/expiry/row-expiry.js";
import { RowNotFoundError, VersionConflictError } from "../../errors/row-errors.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import { whenReady } from "../../promises/when-ready.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { WriteOptions } from "../input/write-options.js";

/**
 * Reads the row to write: the whole row, with the versionstamp of the row and not of an index
 * entry. It is called again after each conflict. `within` is the context of the write, which may be
 * a transaction that has begun after the call.
 */
export type FindRow = (within?: TableContext) => Promise<FoundRow | undefined>;

/**
 * Returns the row to write, with its recorded expiry time.
 *
 * @param where the condition to report in errors.
 * @throws {RowNotFoundError} if the row does not exist or has expired.
 * @throws {VersionConflictError} if its versionstamp differs from `ifVersion`.
 */
export function findToWrite(
  context: TableContext,
  catalog: CatalogSnapshot,
  find: FindRow,
  where: unknown,
  { ifVersion }: WriteOptions = {},
): Promise<FoundRow> {
  return find(context).then((stored) =>
    whenReady(unexpired(viewOf(context, catalog), stored), (found) => {
      const { name } = context.model;
      if (found === undefined) throw new RowNotFoundError(name, where);
      if (ifVersion !== undefined && ifVersion !== found.versionstamp) {
        throw new VersionConflictError(name, pointerOf(found.primaryKey), "ifVersion");
      }
      return found;
    }),
  );
}
