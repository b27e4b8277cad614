import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodeValue } from "../src/values/decode-value.js";
import { encodeValue } from "../src/values/encode-value.js";
import { encodeWithBlobs } from "../src/values/encode-with-blobs.js";

const file = new URL("golden/web-values.json", import.meta.url);
const golden = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;

const values: Readonly<Record<string, () => unknown>> = {
  "a DOMException": () => exception("message", "AbortError"),
  "a DOMException with a name of its own": () => exception("", "Other"),
  "a Blob": () => new Blob([Uint8Array.of(0, 1, 255)], { type: "image/png" }),
  "an empty Blob": () => new Blob([]),
  "a File": () => new File(["abc"], "\ufeffä.txt", { type: "image/png", lastModified: 5 }),
  "a Blob beside others": () => {
    const blob = new Blob(["a"]);
    return { n: 1, list: [blob, blob, new Blob(["b"])] };
  },
};

describe("golden web values", () => {
  it.each(Object.entries(values))("%s", async (name, make) => {
    const encoded = await encodeWithBlobs(make());
    expect(Buffer.from(encoded).toString("hex")).toBe(golden[name]);
    expect(await content(decodeValue(encoded))).toEqual(await content(make()));
  });

  it("are all there", () => {
    expect(Object.keys(golden)).toEqual(Object.keys(values));
  });
});

describe("a DOMException", () => {
  it("comes back with its class, code and stack", () => {
    const stored = new DOMException("message", "AbortError");
    const read = decodeValue(encodeValue({ a: [stored, stored] })) as { a: DOMException[] };
    const [first, second] = read.a;
    expect(second).toBe(first);
    expect(first).toBeInstanceOf(DOMException);
    expect(first).toMatchObject({ name: "AbortError", message: "message", code: 20 });
    // JavaScriptCore gives it no stack.
    if (stored.stack !== undefined) expect(first!.stack).toBe(stored.stack);
    expect(Object.keys(first!)).toEqual([]);
  });

  it("that was stored without a stack does not show where it was decoded", () => {
    const stored = Object.defineProperty(new DOMException("message"), "stack", {
      value: undefined,
    });
    const read = decodeValue(encodeValue(stored)) as DOMException;
    expect(read).toMatchObject({ message: "message", stack: undefined });
  });
});

describe("a Blob", () => {
  it("is read once, and the rest of the value is copied before", async () => {
    const value = { blob: new Blob(["a"]), n: 1 };
    const encoding = encodeWithBlobs(value);
    value.n = 2;
    expect(decodeValue(await encoding)).toMatchObject({ n: 1 });
  });

  it("is not read for a value without one", () => {
    expect(encodeWithBlobs({ a: new Map() })).toBeInstanceOf(Uint8Array);
  });
});

function exception(message: string, name: string): DOMException {
  const property = { value: "a stack", writable: true, configurable: true };
  return Object.defineProperty(new DOMException(message, name), "stack", property);
}

/** Replaces each object of a web class by its properties, which can be compared. */
async function content(value: unknown): Promise<unknown> {
  if (value instanceof DOMException)
    return { name: value.name, message: value.message, code: value.code, stack: value.stack };
  if (value instanceof Blob) {
    const { size, type } = value;
    const { name, lastModified } = value instanceof File ? value : {};
    return { name, lastModified, size, type, bytes: [...(await bytesOf(value))] };
  }
  if (Array.isArray(value)) return await Promise.all(value.map(content));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(async ([key, part]) => [key, await content(part)]);
  return Object.fromEntries(await Promise.all(entries));
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer());
}
