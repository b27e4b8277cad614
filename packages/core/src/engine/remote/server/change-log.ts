import { compareBytes } from "../../../bytes/compare-bytes.js";
import { textOfBytes } from "../../../bytes/text-of-bytes.js";
import type { KeyRange } from "../../../keys/key-range.js";
import { ChangeWatchers } from "../../change-watchers.js";
import type { Engine, RangeListener } from "../../engine.js";
import { afterEntries, firstSystemKey, visibleRange } from "../../system-keys.js";

/** How many changes of keys are kept, for clients whose watch begins a moment later. */
const maxKeys = 10_000;

/**
 * The last changes of a database, each with a number. A client learns the number with every answer.
 * When it begins a watch, or after it was disconnected, it gets what has changed since.
 */
export class ChangeLog {
  readonly #watchers = new ChangeWatchers();
  readonly #engine: Engine;
  #stop: (() => void) | undefined;
  #counter = 0;
  /** The keys of the last changes, the newest last. */
  #changes: (readonly Uint8Array[])[] = [];
  #keys = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The number of the last change. */
  get counter(): number {
    return this.#counter;
  }

  /** Records changes until `stop`. The first change after a pause counts as unknown. */
  start(): void {
    if (this.#stop !== undefined) return;
    this.#record(undefined);
    const all = { start: firstSystemKey, end: afterEntries };
    this.#stop = this.#engine.watchRanges([all], (keys) => this.#record(keys));
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  watch(keys: readonly Uint8Array[], since: number, onChange: () => void): () => void {
    const unwatch = this.#watchers.watch(keys, onChange);
    const texts = new Set(keys.map(textOfBytes));
    const changed = this.#since(since);
    if (changed === undefined || changed.some((key) => texts.has(textOfBytes(key)))) onChange();
    return unwatch;
  }

  watchRanges(ranges: readonly KeyRange[], since: number, onChange: RangeListener): () => void {
    const unwatch = this.#watchers.watchRanges(ranges, onChange);
    const visible = ranges.map(visibleRange);
    const changed = this.#since(since)?.filter((key) =>
      visible.some(({ start, end }) => compareBytes(key, start) >= 0 && compareBytes(key, end) < 0),
    );
    if (changed === undefined || changed.length > 0) onChange(changed);
    return unwatch;
  }

  /** Returns the keys that have changed since a number, or undefined if not all are known. */
  #since(counter: number): Uint8Array[] | undefined {
    const missed = this.#counter - counter;
    if (missed < 0 || missed > this.#changes.length) return undefined;
    return missed === 0 ? [] : this.#changes.slice(-missed).flat();
  }

  #record(keys: readonly Uint8Array[] | undefined): void {
    this.#counter++;
    if (keys === undefined) {
      this.#changes = [];
      this.#keys = 0;
      this.#watchers.notifyUnknown();
      return;
    }
    // The engine may use the memory of the keys again.
    const copies = keys.map((key) => key.slice());
    this.#changes.push(copies);
    this.#keys += copies.length;
    while (this.#keys > maxKeys) this.#keys -= this.#changes.shift()!.length;
    this.#watchers.notify(copies.map((key) => ({ key })));
  }
}
