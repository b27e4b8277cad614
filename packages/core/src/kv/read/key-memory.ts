/** The size in bytes of a piece of memory that many keys share. */
const pieceBytes = 0x8000;

/**
 * Memory for the keys and versionstamps of listed entries. Many of them share a piece, because the
 * runtime takes long to allocate one and to free it. A piece is freed when nobody has one of its
 * entries any longer.
 */
export class KeyMemory {
  static #last: KeyMemory = new KeyMemory(pieceBytes);
  readonly bytes: Uint8Array;
  #used = 0;

  private constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  /** Returns memory that has `size` unused bytes. */
  static with(size: number): KeyMemory {
    const last = KeyMemory.#last;
    if (last.#used + size <= pieceBytes) return last;
    if (size > pieceBytes / 4) return new KeyMemory(size);
    KeyMemory.#last = new KeyMemory(pieceBytes);
    return KeyMemory.#last;
  }

  /** Takes `size` bytes. Returns the offset of the first one. */
  take(size: number): number {
    const start = this.#used;
    this.#used += size;
    return start;
  }
}
