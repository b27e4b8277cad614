import type { KvKeyPart } from "@keywright/core";
import type { TableContext, TakenKey, UnsettledKeys } from "../../context/table-context.js";
import { takenError } from "../../derived/entries/duplicates/claim-unique-key.js";
import { hasIndexKey } from "../../indexes/index-entries.js";
import { keyText } from "../../indexes/key-text.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";

/**
 * The unique keys that rows take from each other while one call updates them. Only the rows after
 * the last update must have different keys, as when values 1, 2 and 3 become 2, 3 and 4.
 */
export class TakenKeys implements UnsettledKeys {
  readonly #pending: Set<string>;
  readonly #taken: TakenKey[] = [];

  constructor(primaryKeys: readonly (readonly KvKeyPart[])[]) {
    this.#pending = new Set(primaryKeys.map(keyText));
  }

  mayTakeFrom(owner: readonly KvKeyPart[]): boolean {
    return this.#pending.has(keyText(owner));
  }

  add(taken: TakenKey): void {
    this.#taken.push(taken);
  }

  /** Call it before a row is updated. After its update, no key can be taken from it. */
  begin(primaryKey: readonly KvKeyPart[]): void {
    this.#pending.delete(keyText(primaryKey));
  }

  /** @throws {UniqueConstraintError} if a row still has a key that another one took from it. */
  async assertReleased({ kv, model }: TableContext): Promise<void> {
    for (const taken of this.#taken) {
      const { index, key, owner } = taken;
      const { value: row } = await kv.get<AnyRow>(rowKey(model, owner));
      if (row !== null && hasIndexKey(model, index, row, owner, key)) {
        throw takenError(model, taken);
      }
    }
  }
}
