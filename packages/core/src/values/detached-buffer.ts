/**
 * True if the buffer has been transferred, so that its bytes are no longer accessible through it.
 */
export function isDetached(buffer: ArrayBufferLike): boolean {
  if (buffer.byteLength > 0) return false;
  try {
    // Node.js 20 has no `ArrayBuffer.prototype.detached`.
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}
