/** Whether a buffer has been transferred to somebody else, so that its bytes are no longer here. */
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
