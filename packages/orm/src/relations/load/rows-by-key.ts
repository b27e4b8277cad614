import { type KvKeyPart, specificationOrder } from "@keywright/core";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { foundRow } from "../../query/read/found-row.js";
import { readKeys } from "../../query/read/read-rows.js";
import { type KeyId, keyIdOf } from "../../transaction/key-id.js";
import { copyValue } from "../copy-value.js";

/** What a row is known by while relations are loaded: its key. */
export function rowIdOf({ model }: TableContext, primaryKey: readonly KvKeyPart[]): KeyId {
  return keyIdOf(rowKey(model, primaryKey), specificationOrder);
}

/** Reads rows by their primary keys, each once, in one read. A row that is not there is not among them. */
export async function readRowsByKey(
  context: TableContext,
  primaryKeys: Iterable<readonly KvKeyPart[]>,
  meter: ReadMeter,
): Promise<Map<KeyId, AnyRow>> {
  const wanted = new Map<KeyId, readonly KvKeyPart[]>();
  for (const primaryKey of primaryKeys) wanted.set(rowIdOf(context, primaryKey), primaryKey);
  meter.add(wanted.size);
  const keys = [...wanted.values()].map((primaryKey) => rowKey(context.model, primaryKey));
  const entries = await readKeys(context, keys);
  const rows = new Map<KeyId, AnyRow>();
  for (const [i, [id, primaryKey]] of [...wanted].entries()) {
    const entry = entries[i];
    const found = entry && foundRow(context, primaryKey, entry);
    if (found !== undefined) rows.set(id, found.row);
  }
  return rows;
}

/** Hands out values by their ids, to each who asks one of its own. */
export class OwnCopies<T> {
  readonly #values: ReadonlyMap<KeyId, T>;
  readonly #isTaken = new Set<KeyId>();

  constructor(values: ReadonlyMap<KeyId, T>) {
    this.#values = values;
  }

  take(id: KeyId): T | undefined {
    const value = this.#values.get(id);
    if (!this.#isTaken.has(id)) {
      this.#isTaken.add(id);
      return value;
    }
    return copyValue(value);
  }
}
