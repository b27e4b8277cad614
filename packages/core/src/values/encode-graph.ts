import { Buffer } from "node:buffer";
import { types } from "node:util";
import { UnsupportedValueError } from "../errors/core-errors.js";
import { bigintOfU64 } from "./bigint-of-u64.js";
import { isDetached } from "./detached-buffer.js";
import { isPlainScalar } from "./is-plain.js";
import {
  errorClasses,
  type GraphNode,
  hole,
  type Slot,
  type ValueGraph,
  viewClasses,
} from "./value-graph.js";
import { formatValuePath, type PathStep, rootPath, type ValuePath } from "./value-path.js";

/**
 * Lays a value out as nodes, as the structured clone algorithm reads it: own enumerable string keys, subclasses of
 * built-in classes as their base, circular and shared references kept. It does not recurse, so depth has no limit.
 *
 * A view is stored with the whole of its buffer where other views of the value share it, and alone otherwise.
 *
 * @throws {UnsupportedValueError} for functions, symbols, class instances and what else has no structured clone.
 */
export function encodeGraph(value: unknown): ValueGraph {
  return new GraphBuilder().build(value);
}

interface BufferUse {
  readonly node: ["buffer", Uint8Array];
  readonly views: { node: GraphNode; view: ArrayBufferView }[];
  whole: boolean;
}

class GraphBuilder {
  readonly #nodes: GraphNode[] = [];
  readonly #numbers = new Map<object, number>();
  readonly #pending: { object: object; node: GraphNode; path: ValuePath }[] = [];
  readonly #buffers = new Map<ArrayBufferLike, BufferUse>();

  build(value: unknown): ValueGraph {
    const root = this.#slot(value, rootPath);
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      this.#fill(next.object, next.node as unknown[], next.path);
    }
    for (const use of this.#buffers.values()) trimBuffer(use);
    return [root, ...this.#nodes];
  }

  #slot(value: unknown, path: ValuePath): Slot {
    const plain = isPlainScalar(value);
    if (plain === true) return value;
    switch (typeof value) {
      case "number":
        return ["-0"];
      case "bigint":
        return ["bigint", value.toString(16)];
      case "string":
        return ["utf16", utf16Bytes(value)];
      case "object":
        return [this.#number(value as object, path)];
      default:
        throw unsupported(path, `a ${typeof value} cannot be stored`);
    }
  }

  #number(object: object, path: ValuePath): number {
    const known = this.#numbers.get(object);
    if (known !== undefined) {
      // A buffer that was known through a view of it, and now stands in the value itself.
      const use = this.#buffers.get(object as ArrayBuffer);
      if (use !== undefined) use.whole = true;
      return known;
    }
    const node = this.#newNode(object, path);
    const number = this.#nodes.push(node);
    this.#numbers.set(object, number);
    if (hasParts(node)) this.#pending.push({ object, node, path });
    return number;
  }

  /** The node of an object, without its parts. */
  #newNode(object: object, path: ValuePath): GraphNode {
    if (types.isProxy(object)) throw unsupported(path, "a Proxy cannot be stored");
    if (Array.isArray(object)) return isDense(object) ? ["array"] : ["sparse", object.length];
    if (types.isMap(object)) return ["map"];
    if (types.isSet(object)) return ["set"];
    if (types.isDate(object)) return ["date", Date.prototype.getTime.call(object)];
    if (types.isRegExp(object)) return ["regexp", this.#slot(object.source, path), object.flags];
    // Node.js 22 counts a DOMException as a native error; earlier versions and Bun do not.
    if (object instanceof DOMException) throw unsupported(path, "a DOMException cannot be stored");
    if (types.isNativeError(object)) return ["error", errorName(object), hole, hole, hole];
    if (types.isSymbolObject(object)) throw unsupported(path, "a symbol cannot be stored");
    if (types.isBoxedPrimitive(object)) return ["box", this.#slot(unboxed(object), path)];
    if (types.isSharedArrayBuffer(object))
      throw unsupported(path, "shared memory cannot be stored");
    if (types.isArrayBuffer(object)) return this.#bufferNode(object, path);
    if (ArrayBuffer.isView(object)) return this.#viewNode(object, path);
    if (bigintOfU64(object) !== undefined) {
      throw unsupported(path, "a KvU64 can only be stored as a value of its own");
    }
    if (!isPlainObject(object))
      throw unsupported(path, `${describeClass(object)} cannot be stored`);
    return ["object"];
  }

  #bufferNode(buffer: ArrayBuffer, path: ValuePath): GraphNode {
    const use = this.#bufferUse(buffer, path);
    use.whole = true;
    return use.node;
  }

  #bufferUse(buffer: ArrayBufferLike, path: ValuePath): BufferUse {
    assertOwnMemory(buffer, path);
    let use = this.#buffers.get(buffer);
    if (use === undefined) {
      use = {
        node: ["buffer", new Uint8Array(buffer)],
        views: [],
        whole: false,
      };
      this.#buffers.set(buffer, use);
    }
    return use;
  }

  #viewNode(view: ArrayBufferView, path: ValuePath): GraphNode {
    const type = viewType(view);
    if (!Object.hasOwn(viewClasses, type))
      throw unsupported(path, `${describeClass(view)} cannot be stored`);
    const size = type === "DataView" ? view.byteLength : (view as Uint8Array).length;
    // The bytes of a Node.js Buffer are often a stretch of a pool that it shares with strangers.
    if (Buffer.isBuffer(view)) {
      assertOwnMemory(view.buffer, path);
      const own: GraphNode = ["buffer", view];
      return ["view", type, [this.#nodes.push(own)], 0, size];
    }
    const use = this.#bufferUse(view.buffer, path);
    let number = this.#numbers.get(view.buffer);
    if (number === undefined) {
      number = this.#nodes.push(use.node);
      this.#numbers.set(view.buffer, number);
    }
    const node: GraphNode = ["view", type, [number], view.byteOffset, size];
    use.views.push({ node, view });
    return node;
  }

  /** Adds an object's parts to its node. */
  #fill(object: object, node: unknown[], path: ValuePath): void {
    const slot = (value: unknown, step: PathStep) => this.#slot(value, { parent: path, step });
    switch (node[0]) {
      // By index and by the classes' own iterators: a subclass or another prototype may have none, or one of its own.
      case "array": {
        const array = object as unknown[];
        // A getter on the way may make it longer.
        const { length } = array;
        for (let index = 0; index < length; index++) node.push(slot(array[index], { index }));
        return;
      }
      case "map":
        for (const [key, value] of [...Map.prototype.entries.call(object)]) {
          node.push(slot(key, { part: ".keys()" }), slot(value, { mapKey: key }));
        }
        return;
      case "set":
        for (const member of [...Set.prototype.values.call(object)])
          node.push(slot(member, { part: ".values()" }));
        return;
      case "error": {
        const { message, stack, cause } = object as Error;
        if (Object.hasOwn(object, "message"))
          node[2] = slot(String(message), { property: "message" });
        if (typeof stack === "string") node[3] = slot(stack, { property: "stack" });
        if (Object.hasOwn(object, "cause")) node[4] = slot(cause, { property: "cause" });
        return;
      }
      default:
        for (const key of Object.keys(object)) {
          // The getter of a property before it may have deleted it.
          if (!Object.hasOwn(object, key)) continue;
          const value = (object as Record<string, unknown>)[key];
          node.push(slot(key, { part: "" }), slot(value, { property: key }));
        }
    }
  }
}

function hasParts(node: GraphNode): boolean {
  return ["object", "array", "sparse", "map", "set", "error"].includes(node[0]);
}

function isDense(array: unknown[]): boolean {
  return Object.keys(array).length === array.length && !hasHole(array);
}

function hasHole(array: unknown[]): boolean {
  for (let i = 0; i < array.length; i++) if (!Object.hasOwn(array, i)) return true;
  return false;
}

/** An object literal of this or another realm, or one without a prototype. */
function isPlainObject(object: object): boolean {
  const prototype = Object.getPrototypeOf(object);
  if (prototype === null || prototype === Object.prototype) return true;
  const isOtherRealms =
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "hasOwnProperty");
  return isOtherRealms && Object.prototype.toString.call(object) === "[object Object]";
}

function errorName(error: Error): string {
  const name = String(error.name);
  return Object.hasOwn(errorClasses, name) ? name : "Error";
}

const typedArrayName = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)!.get as (this: ArrayBufferView) => string | undefined;

/** The name of a view's built-in class, whichever realm it is of. */
function viewType(view: ArrayBufferView): string {
  return typedArrayName.call(view) ?? "DataView";
}

function assertOwnMemory(buffer: ArrayBufferLike, path: ValuePath): void {
  if (types.isSharedArrayBuffer(buffer)) throw unsupported(path, "shared memory cannot be stored");
  if (isDetached(buffer)) throw unsupported(path, "a detached ArrayBuffer cannot be stored");
}

/** The primitive in a boxed one, past a `valueOf` of a subclass. */
function unboxed(box: object): unknown {
  if (types.isNumberObject(box)) return Number.prototype.valueOf.call(box);
  if (types.isStringObject(box)) return String.prototype.valueOf.call(box);
  if (types.isBooleanObject(box)) return Boolean.prototype.valueOf.call(box);
  return BigInt.prototype.valueOf.call(box);
}

/** Keeps of a buffer that one view alone uses no more than that view's bytes. */
function trimBuffer({ node, views, whole }: BufferUse): void {
  const only = views[0];
  if (whole || views.length !== 1 || only === undefined) return;
  node[1] = new Uint8Array(only.view.buffer, only.view.byteOffset, only.view.byteLength);
  only.node[3] = 0;
}

function utf16Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), true);
  return bytes;
}

function describeClass(object: object): string {
  const name: unknown = object.constructor?.name;
  return typeof name === "string" && name !== "" ? `an instance of ${name}` : "a class instance";
}

function unsupported(path: ValuePath, reason: string): UnsupportedValueError {
  return new UnsupportedValueError(formatValuePath(path), reason);
}
