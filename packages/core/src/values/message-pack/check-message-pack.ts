/**
 * Checks bytes of another process before they are unpacked, because msgpackr reserves memory for
 * the lengths that it finds and recurses to any depth.
 *
 * @param start where the item begins.
 * @throws {TypeError} if the bytes are not exactly one MessagePack item, if it is nested more than
 * `maxDepth` levels deep, or if it has another extension type than `undefined` and timestamps.
 */
export function checkMessagePack(bytes: Uint8Array, start: number, maxDepth: number): void {
  /** The items that each open list still has to contain, the innermost last. */
  const open: number[] = [];
  let missing = 1;
  let offset = start;
  const number = (size: number): number => {
    let value = 0;
    for (let i = 0; i < size; i++) value = value * 256 + (bytes[offset + i] ?? 0);
    offset += size;
    return value;
  };
  for (;;) {
    while (missing === 0) {
      const outer = open.pop();
      if (outer === undefined) {
        if (offset === bytes.length) return;
        throw new TypeError("it has more than one item");
      }
      missing = outer;
    }
    const tag = bytes[offset++];
    if (tag === undefined) throw new TypeError("it ends too early");
    missing--;
    let items = 0;
    if (tag < 0x80 || tag >= 0xe0) continue;
    else if (tag < 0x90) items = (tag & 0x0f) * 2;
    else if (tag < 0xa0) items = tag & 0x0f;
    else if (tag < 0xc0) offset += tag & 0x1f;
    else if (tag < 0xc4) {
      if (tag === 0xc1) throw new TypeError("it has an unknown tag");
    } else if (tag < 0xc7) skip(number(1 << (tag - 0xc4)));
    else if (tag < 0xca) extension(number(1 << (tag - 0xc7)));
    else if (tag < 0xd4) offset += fixedSizes[tag - 0xca]!;
    else if (tag < 0xd9) extension(1 << (tag - 0xd4));
    else if (tag < 0xdc) skip(number(1 << (tag - 0xd9)));
    else if (tag < 0xde) items = number(2 << (tag - 0xdc));
    else items = number(2 << (tag - 0xde)) * 2;
    // Each item has at least one byte.
    if (items > bytes.length - offset) throw new TypeError("it ends too early");
    if (items === 0) continue;
    if (open.length >= maxDepth) throw new TypeError(`it is nested deeper than ${maxDepth} levels`);
    open.push(missing);
    missing = items;
  }

  function skip(size: number): void {
    offset += size;
  }

  function extension(size: number): void {
    const type = bytes[offset];
    const isKnown = type === undefinedType ? size === 1 : type === timestampType;
    if (!isKnown) throw new TypeError("it has an unknown extension type");
    offset += 1 + size;
  }
}

/** Extension types as bytes. */
const undefinedType = 0;
const timestampType = 0xff;
/**
 * The sizes of the numbers with the tags `ca` to `d3`: floats, then unsigned and signed integers.
 */
const fixedSizes = [4, 8, 1, 2, 4, 8, 1, 2, 4, 8];
