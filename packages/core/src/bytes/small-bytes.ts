const chunkBytes = 0x2000;
/** What is larger gets memory of its own. */
const mostShared = 0x200;

let chunk = new ArrayBuffer(chunkBytes);
let used = 0;

/**
 * New bytes, all of them zero. Small ones are stretches of a chunk that they share: quicker to make than memory of their
 * own, and quicker to hand to a native database. Who keeps one for long makes a copy, or else keeps all of the chunk.
 */
export function smallBytes(size: number): Uint8Array {
  if (size > mostShared) return new Uint8Array(size);
  if (used + size > chunkBytes) {
    chunk = new ArrayBuffer(chunkBytes);
    used = 0;
  }
  const bytes = new Uint8Array(chunk, used, size);
  used += size;
  return bytes;
}
