// Keys before `00 03` belong to the engine. All others are those of entries.

/** The key of the head, which each commit replaces. */
export const headKey: Uint8Array = Uint8Array.of(0x00, 0x01);

/**
 * The keys under which earlier versions stored what the last commits had changed, for other
 * processes with the same file: `00 02` and two bytes.
 */
export const changeRange: { readonly start: Uint8Array; readonly end: Uint8Array } = {
  start: Uint8Array.of(0x00, 0x02),
  end: Uint8Array.of(0x00, 0x03),
};
