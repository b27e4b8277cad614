/** Returns the checksum at the end of a record. */
export function checksumOf(record: Uint8Array): number {
  const end = record.length;
  const bytes =
    (record[end - 4]! << 24) |
    (record[end - 3]! << 16) |
    (record[end - 2]! << 8) |
    record[end - 1]!;
  return bytes >>> 0;
}
