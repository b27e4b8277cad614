import type { Buffer } from "node:buffer";

const idBytes = 16;
const lengthBytes = 4;

/** Returns the changed keys of a batch: its id, then each key after its length in 4 bytes. */
export function decodeLog(value: Buffer): { readonly key: Uint8Array }[] {
  const changed: { key: Uint8Array }[] = [];
  for (let offset = idBytes; offset < value.length; ) {
    const start = offset + lengthBytes;
    offset = start + value.readUInt32BE(offset);
    changed.push({ key: value.subarray(start, offset) });
  }
  return changed;
}
