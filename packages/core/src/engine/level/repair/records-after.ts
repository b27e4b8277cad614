import { intactPart } from "../files/log-records.js";

const blockBytes = 32 * 1024;
const headerBytes = 7;
const full = 1;
const first = 2;
const middle = 3;
const last = 4;

/** Returns the intact records of a log of LevelDB that begin at a position or later. */
export function recordsAfter(bytes: Uint8Array, from: number): Uint8Array[] {
  const records: Uint8Array[] = [];
  for (let position = from; position + headerBytes <= bytes.length; ) {
    const found = recordAt(bytes, position);
    if (found === undefined) position++;
    else {
      records.push(found.record);
      position = found.end;
    }
  }
  return records;
}

function recordAt(
  bytes: Uint8Array,
  begin: number,
): { readonly record: Uint8Array; readonly end: number } | undefined {
  const parts: Uint8Array[] = [];
  for (let position = begin; ; ) {
    const left = blockBytes - (position % blockBytes);
    if (left < headerBytes) {
      if (parts.length === 0) return undefined;
      position += left;
    }
    const part = intactPart(bytes, position);
    const expected = parts.length === 0 ? [full, first] : [middle, last];
    if (part === undefined || !expected.includes(part.type)) return undefined;
    parts.push(part.bytes);
    position += headerBytes + part.bytes.length;
    if (part.type === full || part.type === last)
      return { record: Buffer.concat(parts), end: position };
  }
}
