import { compareBytes } from "./compare-bytes.js";

/** Numbers words from 0 on, in the order in which they first come. Words are bytes. */
export class WordNumbers {
  /** The words one after another. */
  #bytes = new Uint8Array(65_536);
  /** Where each begins, and where the last one ends. */
  readonly #starts: number[] = [0];
  /** A hash table: the number of a word and 1, or 0. At most half of it is used. */
  #slots = new Int32Array(8192);

  get size(): number {
    return this.#starts.length - 1;
  }

  /** Returns the number of the word `source[start, end)`. */
  numberOf(source: Uint8Array, start: number, end: number): number {
    const slot = this.#slotOf(source, start, end);
    const found = this.#slots[slot]! - 1;
    if (found >= 0) return found;
    const number = this.size;
    const from = this.#starts[number]!;
    const to = from + end - start;
    if (to > this.#bytes.length) this.#bytes = enlarged(this.#bytes, to);
    for (let i = start; i < end; i++) this.#bytes[from + i - start] = source[i]!;
    this.#starts.push(to);
    this.#slots[slot] = number + 1;
    if (2 * this.size > this.#slots.length) this.#enlargeTable();
    return number;
  }

  /** The bytes of a word, until the next one is numbered. */
  wordOf(number: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[number]!, this.#starts[number + 1]!);
  }

  /** Returns the numbers in the order of the words. */
  sorted(): number[] {
    const words = Array.from({ length: this.size }, (_, number) => this.wordOf(number));
    return [...words.keys()].sort((a, b) => compareBytes(words[a]!, words[b]!));
  }

  /** Returns the slot of a word, which is 0 if the word has no number. */
  #slotOf(source: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let hash = 0x811c_9dc5;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ source[i]!, 0x0100_0193);
    let slot = (hash ^ (hash >>> 15)) & mask;
    while (slots[slot] !== 0 && !this.#isWord(slots[slot]! - 1, source, start, end))
      slot = (slot + 1) & mask;
    return slot;
  }

  #isWord(number: number, source: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[number]!;
    if (this.#starts[number + 1]! - from !== end - start) return false;
    const bytes = this.#bytes;
    for (let i = start; i < end; i++) if (bytes[from + i - start] !== source[i]) return false;
    return true;
  }

  #enlargeTable(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let number = 0; number < this.size; number++) {
      const [start, end] = [this.#starts[number]!, this.#starts[number + 1]!];
      this.#slots[this.#slotOf(this.#bytes, start, end)] = number + 1;
    }
  }
}

function enlarged(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(size, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}
