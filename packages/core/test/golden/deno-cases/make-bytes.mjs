/** A `Uint8Array` of these. */
export function bytes(...values) {
  return new Uint8Array(values);
}

/** A key whose encoding has that many bytes: a tag, the bytes and an end. */
export function keyOfSize(size) {
  return [bytes(...Array(size - 2).fill(1))];
}
