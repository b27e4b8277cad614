import { Buffer, types } from "#platform";
import { UnsupportedValueError } from "../../errors/core-errors.js";
import { isDetached, isPlainScalar } from "../is-plain.js";
import { bigintOfU64 } from "../kv-u64.js";
import { formatValuePath, type PathStep, rootPath, type ValuePath } from "../value-path.js";
import {
  type BlobNode,
  errorClasses,
  type GraphNode,
  hole,
  type Slot,
  type ValueGraph,
  viewClasses,
} from "./value-graph.js";

/**
 * Encodes a value as nodes. Reads the value as the structured clone algorithm does: it takes own
 * enumerable string keys, treats subclasses of built-in classes as their base class, and keeps
 * circular and shared references. It does not recurse, so the depth has no limit.
 *
 * A view is stored with its whole buffer if other parts of the value use the buffer. Otherwise only
 * the bytes of the view are stored.
 *
 * @param blobs receives each `Blob` with its node, whose bytes the caller has to read, because only
 * asynchronous calls read them. Without this array, a `Blob` is refused.
 * @throws {UnsupportedValueError} if the value contains a function, a symbol, a class instance or
 * anything else that cannot be stored.
 */
export function encodeGraph(value: unknown, blobs?: GraphBlob[]): ValueGraph {
  return new GraphBuilder(blobs).build(value);
}

export interface GraphBlob {
  readonly blob: Blob;
  readonly node: BlobNode;
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
  readonly #blobs: GraphBlob[] | undefined;

  constructor(blobs: GraphBlob[] | undefined) {
    this.#blobs = blobs;
  }

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
        throw unsupported(path, `it is a ${typeof value}`);
    }
  }

  #number(object: object, path: ValuePath): number {
    const known = this.#numbers.get(object);
    if (known !== undefined) {
      // The buffer was known only through a view. Now the value contains the buffer itself.
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

  #newNode(object: object, path: ValuePath): GraphNode {
    if (types.isProxy(object)) throw unsupported(path, "it is a Proxy");
    if (Array.isArray(object)) return isDense(object) ? ["array"] : ["sparse", object.length];
    if (types.isMap(object)) return ["map"];
    if (types.isSet(object)) return ["set"];
    if (types.isDate(object)) return ["date", Date.prototype.getTime.call(object)];
    if (types.isRegExp(object) && typeof object.source !== "string")
      throw unsupported(path, "its prototype is not that of its class");
    if (types.isRegExp(object)) return ["regexp", this.#slot(object.source, path), object.flags];
    // Node.js 22 counts a DOMException as a native error. Earlier versions and Bun do not.
    if (object instanceof DOMException) return this.#exceptionNode(object, path);
    if (types.isNativeError(object)) return ["error", errorName(object), hole, hole, hole];
    if (types.isSymbolObject(object)) throw unsupported(path, "it is a symbol");
    if (types.isBoxedPrimitive(object)) return ["box", this.#slot(unboxed(object), path)];
    if (types.isSharedArrayBuffer(object)) throw unsupported(path, "it uses shared memory");
    if (types.isArrayBuffer(object)) return this.#bufferNode(object, path);
    if (ArrayBuffer.isView(object)) return this.#viewNode(object, path);
    if (bigintOfU64(object) !== undefined) {
      throw unsupported(path, "it is a KvU64, which must be the whole value");
    }
    if (object instanceof Blob) return this.#blobNode(object, path);
    if (!isPlainObject(object)) throw unsupported(path, `it is ${describeClass(object)}`);
    return ["object"];
  }

  #exceptionNode({ name, message, stack }: DOMException, path: ValuePath): GraphNode {
    const slotOfStack = typeof stack === "string" ? this.#slot(stack, path) : hole;
    return ["exception", this.#slot(name, path), this.#slot(message, path), slotOfStack];
  }

  #blobNode(blob: Blob, path: ValuePath): BlobNode {
    if (this.#blobs === undefined)
      throw unsupported(path, `it is ${describeClass(blob)}, whose bytes have to be read first`);
    const bytes = new Uint8Array(0);
    const node: BlobNode =
      blob instanceof File
        ? ["file", bytes, blob.type, this.#slot(blob.name, path), blob.lastModified]
        : ["blob", bytes, blob.type];
    this.#blobs.push({ blob, node });
    return node;
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
      use = { node: ["buffer", new Uint8Array(buffer)], views: [], whole: false };
      this.#buffers.set(buffer, use);
    }
    return use;
  }

  #viewNode(view: ArrayBufferView, path: ValuePath): GraphNode {
    const type = viewType(view);
    if (!Object.hasOwn(viewClasses, type)) throw unsupported(path, `it is ${describeClass(view)}`);
    const size = type === "DataView" ? view.byteLength : (view as Uint8Array).length;
    // The bytes of a Node.js Buffer are often part of a pool that also holds unrelated data.
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

  #fill(object: object, node: unknown[], path: ValuePath): void {
    const slot = (value: unknown, step: PathStep) => this.#slot(value, { parent: path, step });
    switch (node[0]) {
      // Reads by index and with the built-in iterators, because a subclass may override the
      // iterator and another prototype may have none.
      case "array": {
        const array = object as unknown[];
        // A getter may make the array longer.
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
          // The getter of an earlier property may have deleted this one.
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

/** True for an object literal of this or another realm, and for an object without a prototype. */
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

/** Returns the name of a view's built-in class. The view may be of another realm. */
function viewType(view: ArrayBufferView): string {
  return typedArrayName.call(view) ?? "DataView";
}

function assertOwnMemory(buffer: ArrayBufferLike, path: ValuePath): void {
  if (types.isSharedArrayBuffer(buffer)) throw unsupported(path, "it uses shared memory");
  if (isDetached(buffer)) throw unsupported(path, "it uses a detached ArrayBuffer");
}

function unboxed(box: object): unknown {
  if (types.isNumberObject(box)) return Number.prototype.valueOf.call(box);
  if (types.isStringObject(box)) return String.prototype.valueOf.call(box);
  if (types.isBooleanObject(box)) return Boolean.prototype.valueOf.call(box);
  return BigInt.prototype.valueOf.call(box);
}

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
  const shownPath = formatValuePath(path, () => "…");
  return new UnsupportedValueError(formatValuePath(path), reason, shownPath);
}
