import {
  type DescField,
  type DescMessage,
  fromBinary,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { RequestError } from "../http/request-error.js";

/**
 * The most fields of a request, those of nested messages included. The largest request within the
 * limits of Deno KV has about half as many.
 */
const maxFields = 20_000;

/**
 * Decodes the body of a request.
 *
 * @throws {RequestError} if the body is not a message, or has too many fields: each may have two
 * bytes, and takes hundreds of bytes and microseconds when it is decoded.
 */
export function decodeMessage<Desc extends DescMessage>(
  desc: Desc,
  body: Uint8Array,
): MessageShape<Desc> {
  try {
    new FieldCount(body).count(desc, 0, body.length);
    return fromBinary(desc, body, { readUnknownFields: false });
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(400, `The body is not a message of KV Connect: ${String(error)}`);
  }
}

class FieldCount {
  readonly #bytes: Uint8Array;
  #offset = 0;
  #fields = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  count(desc: DescMessage, start: number, end: number): void {
    this.#offset = start;
    while (this.#offset < end) {
      const tag = this.#varint();
      this.#add(1);
      const wireType = tag % 8;
      const number = Math.floor(tag / 8);
      const field = desc.fields.find((each) => each.number === number);
      // The decoder ignores wrong types, and would read other fields than those that are counted.
      if (field !== undefined && !isTypeOf(field, wireType))
        throw new TypeError(`its field ${number} has the wire type ${wireType}`);
      if (wireType === 0) this.#varint();
      else if (wireType === 1) this.#offset += 8;
      else if (wireType === 5) this.#offset += 4;
      else if (wireType === 2) this.#countNested(field, end);
      else throw new TypeError(`it has the wire type ${wireType}`);
    }
    if (this.#offset > end) throw new RangeError("it ends too early");
  }

  #countNested(field: DescField | undefined, end: number): void {
    const length = this.#varint();
    const start = this.#offset;
    if (length > end - start) throw new RangeError("it ends too early");
    if (field?.message !== undefined) this.count(field.message, start, start + length);
    // A packed list of numbers, each of which has at least a byte.
    else if (field?.fieldKind === "list" && !isText(field)) this.#add(length);
    this.#offset = start + length;
  }

  #add(fields: number): void {
    this.#fields += fields;
    if (this.#fields > maxFields)
      throw new RequestError(400, `A request can have at most ${maxFields} fields.`);
  }

  /** Numbers of more than 53 bits are not exact, and are not used. */
  #varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 70; scale *= 128) {
      const byte = this.#bytes[this.#offset++];
      if (byte === undefined) throw new RangeError("it ends too early");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new TypeError("it has a number of more than ten bytes");
  }
}

/** True if a field is written with a wire type. All numbers of the protocol are varints. */
function isTypeOf(field: DescField, wireType: number): boolean {
  if (field.message !== undefined || isText(field)) return wireType === 2;
  return wireType === 0 || (wireType === 2 && field.fieldKind === "list");
}

function isText({ scalar }: DescField): boolean {
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES;
}
