const chunkBytes = 0x2000;
/** The largest size, in bytes, that is allocated in a shared chunk. */
const mostShared = 0x200;

let chunk = new ArrayBuffer(chunkBytes);
let used = 0;

/**
 * Returns `size` zero bytes. Small sizes are allocated in a shared chunk, which is faster to create
 * and faster to pass to a native database than separate memory. A caller that keeps the bytes for
 * long must copy them, because they keep the whole chunk alive.
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
