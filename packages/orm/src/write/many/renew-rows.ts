import type { KvKeyPart } from "@keywright/core";
import { pointerOf } from "../../model/keys/primary-key.js";
import { findByPrimaryKey } from "../../read/find/find-unique.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { writeUnlessGone } from "../cascade/write-unless-gone.js";
import { commitChange } from "../commit/commit-change.js";
import { findToWrite } from "../rows/find-row.js";
import { writeEach } from "./write-each.js";

/**
 * Writes rows again, with the fields of the rows that they copy. Rows that are gone are skipped. No
 * hooks are called.
 *
 * @returns how many rows were written.
 * @throws the error of the first row that could not be written.
 */
export async function renewRows(
  context: TableContext,
  primaryKeys: readonly (readonly KvKeyPart[])[],
): Promise<number> {
  const results = await writeEach(context, {
    items: primaryKeys,
    idOf: pointerOf,
    write: renewRow,
  });
  for (const result of results) if (!result.ok) throw result.error;
  return results.length;
}

async function renewRow(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
): Promise<FoundRow | undefined> {
  const meter = new ReadMeter(context.model.name, Number.POSITIVE_INFINITY);
  const find = () => findByPrimaryKey(viewOf(context), primaryKey, meter);
  return await writeUnlessGone(context.model, primaryKey, (where) =>
    commitChange(context, async (catalog) => {
      const found = await findToWrite(context, catalog, find, where);
      return { primaryKey, before: found, row: found.row, renewsCopies: true };
    }),
  );
}
