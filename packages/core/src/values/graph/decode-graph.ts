import { UnreadableValueError } from "../../errors/core-errors.js";
import {
  errorClasses,
  type GraphNode,
  type Slot,
  type ValueGraph,
  viewClasses,
} from "./value-graph.js";

/** A sparse array that is longer gets memory only for its elements. */
const maxReservedLength = 1024;

export function decodeGraph(graph: ValueGraph): unknown {
  if (!Array.isArray(graph) || graph.length === 0) throw new TypeError("no graph");
  return new GraphReader(graph).read();
}

class GraphReader {
  readonly #graph: ValueGraph;
  readonly #objects: object[] = [];

  constructor(graph: ValueGraph) {
    this.#graph = graph;
  }

  read(): unknown {
    for (let number = 1; number < this.#graph.length; number++) this.#object(number);
    for (let number = 1; number < this.#graph.length; number++) {
      this.#fill(this.#objects[number]!, this.#graph[number] as GraphNode);
    }
    return this.#value(this.#graph[0]);
  }

  #value(slot: Slot): unknown {
    if (!Array.isArray(slot)) return slot;
    const [kind, detail] = slot;
    if (typeof kind === "number") return this.#object(kind);
    if (kind === "-0") return -0;
    if (kind === "bigint") return bigintOfHex(detail);
    if (kind === "utf16") return stringOfUtf16(detail);
    throw new TypeError("unknown slot");
  }

  /** Creates the object of a node on first use, without its parts, which may refer to it. */
  #object(number: number): object {
    const known = this.#objects[number];
    if (known !== undefined) return known;
    const object = this.#newObject(this.#graph[number] as GraphNode);
    this.#objects[number] = object;
    return object;
  }

  #newObject(node: GraphNode): object {
    if (!Array.isArray(node)) throw new TypeError("no node");
    switch (node[0]) {
      case "object":
        return {};
      case "array":
        return new Array(node.length - 1);
      case "sparse":
        return arrayOfHoles(node[1]);
      case "map":
        return new Map();
      case "set":
        return new Set();
      case "date":
        return new Date(node[1]);
      case "regexp":
        return compileRegExp(this.#value(node[1]) as string, node[2]);
      case "error":
        return new (ownEntry(errorClasses, node[1]))();
      case "exception":
        return this.#newException(node[1], node[2], node[3]);
      case "box":
        return Object(this.#value(node[1]));
      case "buffer":
        // The unpacked bytes are already a copy with its own buffer.
        return bytesOf(node[1]).buffer;
      case "blob":
        return new Blob([bytesOf(node[1])], { type: node[2] });
      case "file": {
        const options = { type: node[2], lastModified: node[4] };
        return new File([bytesOf(node[1])], this.#value(node[3]) as string, options);
      }
      case "view": {
        const ViewClass = ownEntry(viewClasses, node[1]);
        return new ViewClass(this.#value(node[2]) as ArrayBuffer, node[3], node[4]);
      }
      default:
        throw new TypeError("unknown node");
    }
  }

  #fill(object: object, node: GraphNode): void {
    switch (node[0]) {
      case "array":
        for (let i = 1; i < node.length; i++) (object as unknown[])[i - 1] = this.#value(node[i]);
        return;
      case "object":
        this.#fillProperties(object, node, 1);
        return;
      case "sparse":
        this.#fillProperties(object, node, 2);
        return;
      case "map":
        for (let i = 1; i < node.length; i += 2) {
          (object as Map<unknown, unknown>).set(this.#value(node[i]), this.#value(node[i + 1]));
        }
        return;
      case "set":
        for (let i = 1; i < node.length; i++) (object as Set<unknown>).add(this.#value(node[i]));
        return;
      case "error":
        this.#defineHidden(object, "message", node[2]);
        this.#defineHidden(object, "cause", node[4]);
        this.#setStack(object as Error, node[3]);
        return;
      default:
    }
  }

  #fillProperties(object: object, node: GraphNode, from: number): void {
    for (let i = from; i < node.length; i += 2) {
      const key = this.#value(node[i]) as string;
      const value = this.#value(node[i + 1]);
      if (key === "__proto__") {
        const property = { value, writable: true, enumerable: true, configurable: true };
        Object.defineProperty(object, key, property);
      } else {
        (object as Record<string, unknown>)[key] = value;
      }
    }
  }

  #newException(name: Slot, message: Slot, stack: Slot): DOMException {
    const exception = new DOMException(this.#value(message) as string, this.#value(name) as string);
    this.#defineHidden(exception, "stack", isAbsent(stack) ? undefined : stack);
    return exception;
  }

  /**
   * Assigns the stack instead of defining it, because runtimes keep it in different kinds of
   * properties. An error that was stored without a stack must not show the place where it was
   * decoded.
   */
  #setStack(error: Error, slot: Slot): void {
    if (isAbsent(slot)) this.#defineHidden(error, "stack", undefined);
    else error.stack = this.#value(slot) as string;
  }

  #defineHidden(object: object, key: string, slot: Slot): void {
    if (isAbsent(slot)) return;
    const property = {
      value: this.#value(slot),
      writable: true,
      enumerable: false,
      configurable: true,
    };
    Object.defineProperty(object, key, property);
  }
}

function isAbsent(slot: Slot): boolean {
  return Array.isArray(slot) && slot.length === 0;
}

/** Returns an own property of `table`. An inherited one, such as `constructor`, is not a class. */
function ownEntry<T>(table: Readonly<Record<string, T>>, name: string): T {
  if (!Object.hasOwn(table, name)) throw new TypeError("unknown class");
  return table[name]!;
}

function bytesOf(bytes: unknown): Uint8Array<ArrayBuffer> {
  if (!(bytes instanceof Uint8Array)) throw new TypeError("no bytes");
  return bytes as Uint8Array<ArrayBuffer>;
}

function compileRegExp(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    // A newer runtime may have stored syntax that this one does not know.
    throw new UnreadableValueError(error);
  }
}

function arrayOfHoles(length: number): unknown[] {
  if (typeof length !== "number") throw new TypeError("no length");
  if (length <= maxReservedLength) return new Array(length);
  // `new Array` would reserve memory for all places. An array that was once longer than V8 reserves
  // has memory only for its elements.
  const array: unknown[] = [];
  array.length = 2 ** 32 - 1;
  array.length = length;
  return array;
}

function bigintOfHex(hex: string): bigint {
  return hex.startsWith("-") ? -BigInt(`0x${hex.slice(1)}`) : BigInt(`0x${hex}`);
}

function stringOfUtf16(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = "";
  for (let i = 0; i < bytes.length; i += 2) text += String.fromCharCode(view.getUint16(i, true));
  return text;
}
