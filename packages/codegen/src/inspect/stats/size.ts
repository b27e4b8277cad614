export interface Size {
  keys: number;
  /** The length of the encoded keys and values, not the size on disk. */
  bytes: number;
}

export function emptySize(): Size {
  return { keys: 0, bytes: 0 };
}

/** Adds one entry, or `keys` entries that have `bytes` together. */
export function addTo(size: Size, bytes: number, keys = 1): void {
  size.keys += keys;
  size.bytes += bytes;
}
