/**
 * A value as a list of nodes. The list is plain data, which MessagePack keeps without loss. The
 * first element is the slot of the value itself. The other elements are its nodes, numbered from 1.
 *
 * A slot is a plain scalar or one of these lists: `[n]` for node n, `["-0"]`, `["bigint", hex]`
 * (hex digits with a sign if negative), `["utf16", bytes]` (little-endian) for a string with lone
 * surrogates or a leading byte order mark, and `[]` for a part that an error does not have.
 */
export type ValueGraph = [root: Slot, ...nodes: GraphNode[]];

export type Slot = unknown;

/** Pairs form one flat list: key, value, key, value, … */
export type GraphNode =
  | ["object", ...pairs: Slot[]]
  | ["array", ...elements: Slot[]]
  | ["sparse", length: number, ...pairs: Slot[]]
  | ["map", ...pairs: Slot[]]
  | ["set", ...members: Slot[]]
  | ["date", milliseconds: number]
  | ["regexp", source: Slot, flags: string]
  | ["error", name: string, message: Slot, stack: Slot, cause: Slot]
  | ["exception", name: Slot, message: Slot, stack: Slot]
  | ["box", primitive: Slot]
  | ["buffer", bytes: Uint8Array]
  | ["view", type: string, buffer: Slot, byteOffset: number, length: number]
  | BlobNode;

/** A `Blob`, or a `File` with its name and the time of its last change. */
export type BlobNode =
  | ["blob", bytes: Uint8Array, type: string]
  | ["file", bytes: Uint8Array, type: string, name: Slot, lastModified: number];

export const hole: Slot = Object.freeze([]);

/** The error classes that a structured clone preserves. Every other error becomes an `Error`. */
export const errorClasses: Readonly<Record<string, ErrorConstructor>> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

type ViewConstructor = new (
  buffer: ArrayBuffer,
  byteOffset: number,
  length: number,
) => ArrayBufferView;

export const viewClasses: Readonly<Record<string, ViewConstructor>> = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
};
