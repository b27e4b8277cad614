/**
 * A value as a list of nodes, plain data that MessagePack keeps whole. The first element is the slot of the value
 * itself; the others are its nodes, of which the first has the number 1.
 *
 * A slot is a plain scalar as it stands, or a list: `[]` a hole, `[n]` the node n, `["-0"]`, `["bigint", hex]` with a
 * sign, `["utf16", bytes]` for a string with lone surrogates, little-endian.
 */
export type ValueGraph = [root: Slot, ...nodes: GraphNode[]];

export type Slot = unknown;

/** Pairs stand in one flat list: key, value, key, value, … */
export type GraphNode =
  | ["object", ...pairs: Slot[]]
  | ["array", ...elements: Slot[]]
  | ["sparse", length: number, ...pairs: Slot[]]
  | ["map", ...pairs: Slot[]]
  | ["set", ...members: Slot[]]
  | ["date", milliseconds: number]
  | ["regexp", source: Slot, flags: string]
  | ["error", name: string, message: Slot, stack: Slot, cause: Slot]
  | ["box", primitive: Slot]
  | ["buffer", bytes: Uint8Array]
  | ["view", type: string, buffer: Slot, byteOffset: number, length: number];

export const hole: Slot = Object.freeze([]);

/** The error classes that a structured clone keeps apart; every other one becomes an `Error`. */
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

/** The view classes by the name they have in a stored graph. */
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
