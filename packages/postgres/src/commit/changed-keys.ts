import type { AtomicWrite, RangeCheck } from "@keywright/core";
import { visibleRange } from "@keywright/core/engine";
import { textOf } from "./text-of.js";

/** The keys that the writes of a batch may change, in key order. */
export class ChangedKeys {
  readonly #texts: string[] = [];
  /** By position: the index of the write. */
  readonly #writes: number[] = [];
  /** The bounds of the keys that end in a versionstamp, which is not known yet. */
  readonly #stamped: { readonly after: string; readonly before: string; readonly write: number }[] =
    [];

  /** The removal of an expired entry is not a change. */
  add(write: number, { mutations }: AtomicWrite): void {
    for (const mutation of mutations) {
      const text = textOf(mutation.key);
      if (mutation.type === "set" && mutation.endsInVersionstamp) {
        this.#stamped.push({ after: `${text}\x02`, before: `${text}\x03`, write });
      } else if (mutation.type !== "deleteExpired") {
        const position = this.#positionOf(text);
        this.#texts.splice(position, 0, text);
        this.#writes.splice(position, 0, write);
      }
    }
  }

  /** Returns the indexes of the writes that may change a key of one of the ranges. */
  writesIn(checks: readonly RangeCheck[] = []): number[] {
    const writes = new Set<number>();
    for (const { range } of checks) {
      const { start, end } = visibleRange(range);
      const [first, last] = [textOf(start), textOf(end)];
      const to = this.#positionOf(last);
      for (let i = this.#positionOf(first); i < to; i++) writes.add(this.#writes[i]!);
      for (const { after, before, write } of this.#stamped)
        if (first < before && last > after) writes.add(write);
    }
    return [...writes];
  }

  /** Returns the position of the first key that is not before a text. */
  #positionOf(text: string): number {
    let low = 0;
    let high = this.#texts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#texts[middle]! < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
