import { intactPart } from "../files/log-records.js";

const blockBytes = 32 * 1024;
const headerBytes = 7;
const full = 1;
const first = 2;
const middle = 3;
const last = 4;

/**
 * Returns the intact records of a log of LevelDB that begin at a position or later. A damaged
 * record is skipped as a whole if its length is intact, because its bytes may contain those of
 * other logs.
 *
 * @param from where a record begins.
 */
export function recordsAfter(bytes: Uint8Array, from: number): Uint8Array[] {
  const records: Uint8Array[] = [];
  for (let position = from, isBegin = true; position + headerBytes <= bytes.length; ) {
    const found = recordAt(bytes, position);
    if (found !== undefined) {
      records.push(found.record);
      position = found.end;
      isBegin = true;
      continue;
    }
    const next: number | undefined = isBegin ? endOfDamaged(bytes, position) : undefined;
    isBegin = next !== undefined;
    position = next ?? position + 1;
  }
  return records;
}

/** Returns undefined if no intact record follows at the length of the damaged one. */
function endOfDamaged(bytes: Uint8Array, position: number): number | undefined {
  const length = bytes[position + 4]! | (bytes[position + 5]! << 8);
  const end = position + headerBytes + length;
  const left = blockBytes - (end % blockBytes);
  const next = left < headerBytes ? end + left : end;
  return intactPart(bytes, next) === undefined ? undefined : next;
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
