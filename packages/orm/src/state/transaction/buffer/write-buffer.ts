import type { AtomicOperation, KvEnqueueOptions, KvKey, KvSetKey } from "@keywright/core";
import { currentTime } from "../../../model/rows/time.js";
import {
  addToCommit,
  type BufferedValue,
  type BufferedWrite,
  mutationCount,
  type NumberStep,
  setOptionsOf,
  storedValue,
  withStep,
} from "./buffered-write.js";
import type { KeyId } from "./key-id.js";
import type { IdRange } from "./list-range.js";
import { SortedIds } from "./sorted-ids.js";

export type PendingChange =
  | { readonly type: "set"; readonly id: KeyId; readonly key: KvKey; readonly value: BufferedValue }
  | { readonly type: "delete"; readonly id: KeyId; readonly key: KvKey }
  | { readonly type: "step"; readonly id: KeyId; readonly key: KvKey; readonly step: NumberStep }
  | UnreadableChange;

/** A change that no read in the transaction can see, because its key is known only afterwards. */
export type UnreadableChange =
  | {
      readonly type: "enqueue";
      readonly value: BufferedValue;
      readonly options: KvEnqueueOptions | undefined;
    }
  | { readonly type: "setVersionstamped"; readonly key: KvSetKey; readonly value: BufferedValue };

export class WriteBuffer {
  readonly #writes = new Map<KeyId, BufferedWrite>();
  readonly #unreadable: UnreadableChange[] = [];
  readonly ids: SortedIds = new SortedIds();

  /** The ids of the keys that have been written. */
  get written(): Set<KeyId> {
    return new Set(this.#writes.keys());
  }

  get size(): number {
    return this.#writes.size;
  }

  get mutationCount(): number {
    let count = this.#unreadable.length;
    for (const write of this.#writes.values()) count += mutationCount(write);
    return count;
  }

  get(id: KeyId): BufferedWrite | undefined {
    return this.#writes.get(id);
  }

  /** True if a key of the range has been written. */
  hasWithin(range: IdRange): boolean {
    return this.size > 0 && this.ids.next(range, undefined, false) !== undefined;
  }

  apply(changes: readonly PendingChange[], versionstamp: string): void {
    const staged = new Map<KeyId, BufferedWrite>();
    const unreadable: UnreadableChange[] = [];
    for (const change of changes) {
      if (change.type === "enqueue" || change.type === "setVersionstamped") {
        unreadable.push(change);
        continue;
      }
      const { id, key } = change;
      if (change.type === "set") {
        staged.set(id, { key, stored: change.value, steps: [], versionstamp });
      } else if (change.type === "delete") {
        staged.set(id, { key, stored: null, steps: [], versionstamp: null });
      } else {
        staged.set(id, withStep(staged.get(id) ?? this.#writes.get(id), change, versionstamp));
      }
    }
    for (const [id, write] of staged) {
      if (!this.#writes.has(id)) this.ids.add(id);
      this.#writes.set(id, write);
    }
    this.#unreadable.push(...unreadable);
  }

  /** Adds the writes to a commit, the next one in each step. */
  *addTo(operation: AtomicOperation): Generator<void> {
    const now = currentTime();
    for (const write of this.#writes.values()) yield addToCommit(operation, write, now);
    for (const change of this.#unreadable) {
      const value = storedValue(change.value);
      if (change.type === "enqueue") operation.enqueue(value, change.options);
      else operation.set(change.key, value, setOptionsOf(change.value, now));
      yield;
    }
  }
}
