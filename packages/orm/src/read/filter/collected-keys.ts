import type { KeyOrder, KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import type { KeySource, RelatedRow } from "../../state/context/open-filters.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { rowIdOf } from "../../state/references/referenced-key.js";
import { type KeyId, keyIdOf } from "../../state/transaction/buffer/key-id.js";
import { readRowsByKey } from "../include/rows-by-key.js";

type PrimaryKey = readonly KvKeyPart[];

/** A related row that shows that a row meets a condition. */
export interface Shown {
  /** The primary key of the row that has to meet the condition. */
  readonly primaryKey: PrimaryKey;
  /** The related row as it is now. */
  readonly row: AnyRow;
}

/** How the related rows of collected keys are read again. */
export interface Evidence {
  readonly table: ReadView;
  readonly meter: ReadMeter;
  /** Returns for each related row whether it still shows that its row meets the condition. */
  readonly match: (shown: readonly Shown[]) => Promise<boolean[]>;
}

/** The keys of the rows that a condition leads to. */
export class CollectedKeys {
  readonly #model: CompiledModel;
  readonly #evidence: Evidence | undefined;
  readonly #keys = new Map<KeyId, { readonly key: PrimaryKey; readonly related: PrimaryKey[] }>();

  /** @param evidence undefined if the related rows need not be read again. */
  constructor(model: CompiledModel, evidence: Evidence | undefined) {
    this.#model = model;
    this.#evidence = evidence;
  }

  /** @param related the primary key of the row that leads to the key. */
  add(key: PrimaryKey, related?: PrimaryKey): void {
    const id = rowIdOf(this.#model, key);
    let collected = this.#keys.get(id);
    if (collected === undefined) {
      collected = { key, related: [] };
      this.#keys.set(id, collected);
    }
    if (related !== undefined) collected.related.push(related);
  }

  /**
   * Returns for each row whether one of its related rows meets the condition. Undefined if one did
   * when it was collected, but none does now.
   */
  async test(rows: readonly RelatedRow[]): Promise<(boolean | undefined)[]> {
    const collected = rows.map(({ primaryKey }) =>
      this.#keys.get(rowIdOf(this.#model, primaryKey)),
    );
    if (this.#evidence === undefined) return collected.map((found) => found !== undefined);
    const { table, meter, match } = this.#evidence;
    const results: (boolean | undefined)[] = rows.map(() => false);
    let pending = rows.map(({ primaryKey }, position) => {
      const related = collected[position]?.related ?? [];
      return { position, primaryKey, related, next: 0 };
    });
    for (const { position, related } of pending)
      if (related.length > 0) results[position] = undefined;
    for (;;) {
      pending = pending.filter(({ related, next }) => next < related.length);
      if (pending.length === 0) return results;
      const keys = pending.map(({ related, next }) => related[next]!);
      const found = await readRowsByKey(table, keys, meter);
      const shown = pending.flatMap(({ position, primaryKey }, i) => {
        const row = found.get(rowIdOf(table.model, keys[i]!));
        return row === undefined ? [] : [{ position, primaryKey, row }];
      });
      const matches = await match(shown);
      for (const [i, { position }] of shown.entries()) if (matches[i]) results[position] = true;
      pending = pending
        .filter(({ position }) => !results[position])
        .map((each) => ({ ...each, next: each.next + 1 }));
    }
  }

  keysAfter(after: PrimaryKey | undefined, reverse: boolean, order: KeyOrder): KeySource {
    const idOf = (key: PrimaryKey) => keyIdOf(key, order);
    const first = after && idOf(after);
    const keys = [...this.#keys.values()]
      .map(({ key }) => ({ key, id: idOf(key) }))
      .filter(({ id }) => first === undefined || (reverse ? id < first : id > first))
      .sort((a, b) => (a.id < b.id !== reverse ? -1 : 1))
      .map(({ key }) => key);
    let next = 0;
    return {
      next: async (count) => {
        const found = keys.slice(next, next + count);
        next += found.length;
        return found;
      },
      hasMore: async () => next < keys.length,
    };
  }
}
