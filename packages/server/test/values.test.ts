import { deserialize, serialize } from "node:v8";
import { describe, expect, it } from "vitest";
import { ProtobufClient, valuesOf } from "./protobuf-client.js";
import { withServer } from "./served.js";

/** Returns a value within a value, `depth` times. */
function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
}

const wraps: [string, (inner: unknown) => unknown][] = [
  ["arrays", (inner) => [inner]],
  ["sparse arrays", (inner) => Object.assign([, 1], { 2: inner })],
  ["objects", (inner) => ({ a: inner })],
  ["maps", (inner) => new Map([[1, inner]])],
  ["sets", (inner) => new Set([inner])],
  ["causes", (cause) => Object.assign(new Error("", { cause }), { stack: undefined })],
];

const buffer = new ArrayBuffer(8);
const circular: { a?: unknown } = {};
circular.a = [circular];

/** The bytes of a value, after the header. */
const body = (value: unknown) => serialize(value).subarray(2);
const array = (...elements: Uint8Array[]) =>
  Buffer.concat([
    Uint8Array.of(0xff, 15, 0x41, elements.length),
    ...elements,
    Uint8Array.of(0x24, 0, elements.length),
  ]);

function ofLength(length: number): unknown[] {
  const array: unknown[] = [];
  array.length = length;
  return array;
}

describe("a value of a client", () => {
  it.each<[string, unknown]>([
    ["scalars", [1, -1, 1e10, 0.5, -0, Number.NaN, 0n, -(2n ** 70n), null, undefined, true]],
    ["strings", ["a", "é", "漢字", "a漢字", "\ud800", "x".repeat(1000)]],
    ["arrays with holes and properties", [[1, , 2], ofLength(1000), Object.assign([1], { a: 1 })]],
    ["collections", [new Map([[{}, new Set([[]])]]), new Date(1), new Date(Number.NaN), /漢/giu]],
    ["errors with causes", new Error("a", { cause: [new TypeError("b", { cause: 1 }), {}] })],
    ["boxed scalars", [Object(1), Object("漢"), Object(true), Object(1n)]],
    ["bytes and views of one buffer", [buffer, new Uint16Array(buffer, 2), new DataView(buffer)]],
    ["a circular value", circular],
  ])("is stored and read back: %s", async (_name, value) => {
    await withServer({ compat: "deno" }, async ({ url }) => {
      const client = new ProtobufClient(url);
      expect((await client.set(["a"], serialize(value))).status).toBe(200);
      const [stored] = await valuesOf(await client.get(["a"]));
      expect(deserialize(stored!)).toEqual(value);
    });
  });

  it.each(wraps)("is refused if it is too deep to be read back: %s", async (_name, wrap) => {
    await withServer({ compat: "deno" }, async ({ url }) => {
      const client = new ProtobufClient(url);
      expect((await client.set(["a"], serialize(nested(1000, wrap)))).status).toBe(200);
      const [stored] = await valuesOf(await client.get(["a"]));
      expect(() => deserialize(stored!)).not.toThrow();
      const answer = await client.set(["b"], serialize(nested(1001, wrap)));
      expect([answer.status, await answer.text()]).toEqual([
        400,
        "A value is nested more than 1000 levels deep.\n",
      ]);
    });
  });

  it.each<[string, Uint8Array]>([
    ["a host object", Uint8Array.of(0xff, 15, 0x5c, 0xff, 0x7f, 0)],
    ["shared memory", Uint8Array.of(0xff, 15, 0x75, 0)],
    ["a transferred buffer", Uint8Array.of(0xff, 15, 0x74, 0)],
    [
      "a count of objects in a count of objects",
      Buffer.from(`\xff\x0f${"?\0".repeat(30_000)}0`, "latin1"),
    ],
    [
      "sparse arrays of 20 million places",
      array(...new Array<Uint8Array>(50).fill(body(ofLength(20_000_000)))),
    ],
    ["many sparse arrays", array(...new Array<Uint8Array>(100).fill(body(ofLength(20_000))))],
    ["a dense array longer than the value", Uint8Array.of(0xff, 15, 0x41, 0xff, 0xff, 0xff, 0x7f)],
    ["a buffer that may grow", Uint8Array.of(0xff, 15, 0x7e, 0, 0xff, 0xff, 0xff, 0x7f)],
    [
      "a length of more than 32 bits",
      Uint8Array.of(0xff, 15, 0x22, 0x80, 0x80, 0x80, 0x80, 0x80, 1),
    ],
    ["an object that does not end", Uint8Array.of(0xff, 15, 0x6f, 0x22, 1, 0x61, 0x30)],
    ["an old version of the format", Uint8Array.of(0xff, 9, 0x30)],
    ["no value", new Uint8Array(0)],
  ])("is refused before V8 reads it: %s", async (_name, data) => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      const client = new ProtobufClient(url);
      const answer = await client.set(["a"], data);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("value")]);
      expect((await client.write({ enqueues: [{ payload: data, deadlineMs: 0n }] })).status).toBe(
        400,
      );
      expect((await kv.get(["a"])).versionstamp).toBe(null);
    });
  });

  it("shares the memory that it may reserve with the others of its request", async () => {
    await withServer({ compat: "deno" }, async ({ url }) => {
      const client = new ProtobufClient(url);
      const data = serialize(ofLength(700_000));
      const mutation = (key: number) => ({
        ...{ key: Uint8Array.of(2, key, 0), mutationType: 1 },
        value: { data, encoding: 1 },
      });
      expect((await client.write({ mutations: [mutation(97)] })).status).toBe(200);
      expect((await client.write({ mutations: [mutation(97), mutation(98)] })).status).toBe(400);
    });
  });
});

describe("a value of the owner that clients cannot read", () => {
  const ownCause = new Error("a");
  ownCause.cause = ownCause;

  it.each<[string, unknown, string]>([
    ["a Blob", { parts: [new Blob(["a"])] }, "it has a Blob"],
    ["a File", new File(["a"], "a.txt"), "it has a File"],
    ["a DOMException", new DOMException("a", "AbortError"), "it has a DOMException"],
    ["an error that is its own cause", ownCause, "cannot read"],
    ["deep arrays", nested(2500, (inner) => [inner]), "nested too deeply"],
    ["objects deeper than V8 can read", nested(2500, (a) => ({ a })), "nested too deeply"],
  ])("is refused with an error that clients do not repeat: %s", async (_name, value, reason) => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      await kv.set(["unsendable", 1], value);
      await kv.set(["other"], 1);
      const client = new ProtobufClient(url);
      const all = { start: Uint8Array.of(1), end: Uint8Array.of(0xff), limit: 10 };
      const key = ["unsendable", 1];
      for (const call of [client.get(key), client.read(all), client.watch(key)]) {
        const answer = await call;
        expect(answer.status).toBe(422);
        const text = await answer.text();
        expect(text).toContain("[ 'unsendable', 1 ]");
        expect(text).toContain(reason);
      }
      expect((await client.get(["other"])).status).toBe(200);
    });
  });
});
