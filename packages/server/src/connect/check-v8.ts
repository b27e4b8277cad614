/** Values that are nested deeper are refused. V8 itself fails from about 1,800 levels on. */
const maxDepth = 1000;
/**
 * The most bytes that sparse arrays and resizable buffers may reserve beyond those they contain.
 */
const maxReservedBytes = 8 * 1024 * 1024;
const bytesOfPlace = 8;

/**
 * The version of the format that V8 has written since Chrome 68, and the last one that is known.
 */
const oldestVersion = 13;
const newestVersion = 16;

/** The tags that begin an object, array, map or set, as characters, and the tags that end it. */
const endOf: Readonly<Record<string, string>> = {
  o: "{",
  a: "@",
  A: "$",
  ";": ":",
  "'": ",",
};
const ends: ReadonlySet<string> = new Set(Object.values(endOf));
/** `undefined`, `null`, booleans and `Boolean` objects. */
const scalars = "_0TFyx";
const strings = 'S"c';
/** `EvalError`, `RangeError`, `ReferenceError`, `SyntaxError`, `TypeError`, `URIError`. */
const errorClasses = "ERFSTU";

interface Open {
  readonly tag: string;
  /** Elements of a dense array, or the cause of an error, that are still to come. */
  missing: number;
}

/**
 * Memory that the values of one request reserve. The same budget for all of them, because a small
 * value can make V8 reserve many times its size.
 */
export class V8Budget {
  #reserved = 0;

  /** @throws {TypeError} if the values of the request reserve too much. */
  reserve(bytes: number): void {
    this.#reserved += bytes;
    if (this.#reserved > maxReservedBytes)
      throw new TypeError(
        `A value has sparse arrays or resizable buffers that would take more than ${maxReservedBytes} bytes.`,
      );
  }
}

/**
 * Checks a value in the format of V8 before V8 reads it, because V8 trusts the lengths and the
 * depth that it finds. Follows `ValueDeserializer` of V8's `value-serializer.cc`.
 *
 * @throws {TypeError} if V8 would recurse too deeply or reserve too much memory, or if the value
 * has something that only the process that wrote it can read.
 */
export function checkV8(data: Uint8Array, budget: V8Budget): void {
  new V8Check(data, budget).check();
}

class V8Check {
  readonly #data: Uint8Array;
  readonly #budget: V8Budget;
  readonly #open: Open[] = [];
  #offset = 0;
  #version = 0;

  constructor(data: Uint8Array, budget: V8Budget) {
    this.#data = data;
    this.#budget = budget;
  }

  check(): void {
    if (this.#byte() !== 0xff) throw malformed();
    this.#version = this.#varint();
    if (this.#version < oldestVersion || this.#version > newestVersion) throw malformed();
    do {
      this.#next();
    } while (this.#open.length > 0);
  }

  /** Reads a tag, and what belongs to it except nested values. */
  #next(): void {
    const top = this.#open.at(-1);
    if (top?.tag === "r" && top.missing === 0) {
      this.#errorPart(top);
      return;
    }
    const tag = this.#tag();
    if (ends.has(tag)) this.#close(top, tag);
    else if (tag in endOf) this.#begin(tag);
    else if (tag === "r") this.#push({ tag, missing: 0 });
    else if (tag === "-" && top?.tag === "A" && top.missing > 0) this.#completed();
    else {
      this.#scalar(tag);
      this.#completed();
    }
  }

  #begin(tag: string): void {
    const length = tag === "a" || tag === "A" ? this.#varint() : 0;
    if (tag === "a") this.#budget.reserve(length * bytesOfPlace);
    // Each element takes at least one byte.
    if (tag === "A" && length > this.#data.length - this.#offset) throw malformed();
    this.#push({ tag, missing: tag === "A" ? length : 0 });
  }

  #push(open: Open): void {
    if (this.#open.length >= maxDepth)
      throw new TypeError(`A value is nested more than ${maxDepth} levels deep.`);
    this.#open.push(open);
  }

  #close(top: Open | undefined, tag: string): void {
    if (top === undefined || endOf[top.tag] !== tag || top.missing > 0) throw malformed();
    this.#varint();
    if (top.tag === "a" || top.tag === "A") this.#varint();
    this.#open.pop();
    this.#completed();
  }

  #completed(): void {
    const top = this.#open.at(-1);
    if (top !== undefined && top.missing > 0) top.missing--;
  }

  #errorPart(error: Open): void {
    const part = String.fromCharCode(this.#byte());
    if (part === ".") {
      this.#open.pop();
      this.#completed();
    } else if (part === "m" || part === "s") this.#string();
    else if (part === "c") error.missing = 1;
    else if (!errorClasses.includes(part)) throw malformed();
  }

  #scalar(tag: string): void {
    if (scalars.includes(tag)) return;
    if (strings.includes(tag)) this.#skip(this.#varint());
    else if (tag === "I" || tag === "U") this.#varint();
    else if (tag === "N" || tag === "D" || tag === "n") this.#skip(8);
    else if (tag === "Z" || tag === "z") this.#skip(this.#varint() >>> 1);
    else if (tag === "s") this.#string();
    else if (tag === "R") {
      this.#string();
      this.#varint();
    } else if (tag === "^") {
      this.#varint();
      this.#view();
    } else if (tag === "B") {
      this.#skip(this.#varint());
      this.#view();
    } else if (tag === "~") {
      const length = this.#varint();
      this.#budget.reserve(this.#varint());
      this.#skip(length);
      this.#view();
    } else if (tag === "\\") {
      // A typed array or Buffer as `node:v8` writes it. No other host object is a value of Node.js.
      this.#varint();
      this.#skip(this.#varint());
    } else throw unsupported();
  }

  #string(): void {
    const tag = this.#tag();
    if (!strings.includes(tag)) throw malformed();
    this.#skip(this.#varint());
  }

  /** A view comes after its buffer. */
  #view(): void {
    const start = this.#offset;
    if (start === this.#data.length) return;
    if (this.#tag() !== "V") {
      this.#offset = start;
      return;
    }
    this.#byte();
    this.#varint();
    this.#varint();
    if (this.#version >= 14) this.#varint();
  }

  /** Returns the next tag that is not padding. */
  #tag(): string {
    let byte = this.#byte();
    while (byte === 0) byte = this.#byte();
    return String.fromCharCode(byte);
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 35; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80 && value < 2 ** 32) return value;
    }
    throw malformed();
  }

  #byte(): number {
    const byte = this.#data[this.#offset++];
    if (byte === undefined) throw malformed();
    return byte;
  }

  #skip(bytes: number): void {
    this.#offset += bytes;
    if (this.#offset > this.#data.length) throw malformed();
  }
}

function malformed(): TypeError {
  return new TypeError("A value is not in the format of V8, or in a later version of it.");
}

function unsupported(): TypeError {
  return new TypeError("A value has something that only the program that wrote it can read.");
}
