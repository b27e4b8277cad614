import type { KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { copyStored } from "../../model/rows/copy-of-data.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { rowIdOf } from "../../state/references/referenced-key.js";
import { foundRow, readRows } from "../../state/rows/read-rows.js";
import type { KeyId } from "../../state/transaction/buffer/key-id.js";

/** Reads rows by their primary keys, each once, in one read. Leaves out rows that do not exist. */
export async function readRowsByKey(
  view: ReadView,
  primaryKeys: Iterable<readonly KvKeyPart[]>,
  meter: ReadMeter,
): Promise<Map<KeyId, AnyRow>> {
  await view.beginPage(undefined);
  const wanted = new Map<KeyId, readonly KvKeyPart[]>();
  for (const primaryKey of primaryKeys) wanted.set(rowIdOf(view.model, primaryKey), primaryKey);
  meter.add(wanted.size);
  const entries = await readRows(view, [...wanted.values()]);
  const rows = new Map<KeyId, AnyRow>();
  for (const [i, [id, primaryKey]] of [...wanted].entries()) {
    const found = entries[i] && foundRow(view, primaryKey, entries[i]);
    if (found !== undefined) rows.set(id, found.row);
  }
  return rows;
}

/**
 * Values by their ids. The first call of `take` for an id returns the value itself, and each later
 * call returns a copy, so that callers do not share objects.
 */
export class CopyOnReuse<T> {
  readonly #values: ReadonlyMap<KeyId, T>;
  readonly #taken = new Set<KeyId>();

  constructor(values: ReadonlyMap<KeyId, T>) {
    this.#values = values;
  }

  take(id: KeyId): T | undefined {
    const value = this.#values.get(id);
    if (!this.#taken.has(id)) {
      this.#taken.add(id);
      return value;
    }
    return copyStored(value);
  }
}
