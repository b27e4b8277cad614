/** How much some entries are. */
export interface Size {
  keys: number;
  /** Of the encoded keys and values. A database stores more, or less where it compresses. */
  bytes: number;
}

export function emptySize(): Size {
  return { keys: 0, bytes: 0 };
}

/** Adds one entry, or those of another size. */
export function addTo(size: Size, bytes: number, keys = 1): void {
  size.keys += keys;
  size.bytes += bytes;
}
