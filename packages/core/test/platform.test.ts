// What the package takes from a browser behaves as what it takes from Node.js.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as browserEntry from "../src/browser.js";
import { BrowserUnsupportedError } from "../src/errors/browser-error.js";
import * as nodeEntry from "../src/index.js";
import * as browser from "../src/platform/browser.js";
import * as node from "../src/platform/node.js";
import { anything } from "./value-arbitrary.js";

it("has the same names", () => {
  expect(Object.keys(browser).sort()).toEqual(Object.keys(node).sort());
  expect(Object.keys(browserEntry).sort()).toEqual(Object.keys(nodeEntry).sort());
});

describe("bytes", () => {
  const encodings = ["utf8", "latin1", "hex", "base64url"] as const;

  it("become the same texts", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        for (const encoding of encodings)
          expect(browser.Buffer.from(bytes).toString(encoding)).toBe(
            node.Buffer.from(bytes).toString(encoding),
          );
      }),
    );
  });

  it("come from the same texts", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.uint8Array(), (text, bytes) => {
        for (const encoding of ["utf8", "latin1"] as const)
          expect([...browser.Buffer.from(text, encoding)]).toEqual([
            ...node.Buffer.from(text, encoding),
          ]);
        const base64 = node.Buffer.from(bytes).toString("base64url");
        expect([...browser.Buffer.from(base64, "base64url")]).toEqual([...bytes]);
      }),
    );
  });

  it("do not come from a text that is not base64", () => {
    const digit = fc.constantFrom(..."AQgw_-+/= é");
    fc.assert(
      fc.property(fc.string({ unit: digit }), (text) => {
        const isCanonical = ({ Buffer }: typeof node | typeof browser) =>
          Buffer.from(text, "base64url").toString("base64url") === text;
        expect(isCanonical(browser)).toBe(isCanonical(node));
      }),
    );
  });

  it("have the same order", () => {
    const part = fc.uint8Array({ maxLength: 4, max: 3 });
    fc.assert(
      fc.property(part, part, (a, b) => {
        expect(browser.Buffer.compare(a, b)).toBe(node.Buffer.compare(a, b));
        expect([...browser.Buffer.concat([a, b])]).toEqual([...node.Buffer.concat([a, b])]);
      }),
    );
  });

  it("hold the same integers", () => {
    const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(uint64, fc.nat(2 ** 30), (long, short) => {
        const [own, expected] = [browser.Buffer.alloc(14), node.Buffer.alloc(14)];
        for (const bytes of [own, expected]) {
          expect(bytes.writeBigUInt64BE(long, 0)).toBe(8);
          expect(bytes.writeUIntBE(short, 8, 6)).toBe(14);
        }
        expect([...own]).toEqual([...expected]);
        expect(own.readBigUInt64BE(0)).toBe(long);
      }),
    );
  });

  it("are views of a buffer, and copies of other bytes", () => {
    const { buffer } = Uint8Array.of(1, 2, 3, 4);
    const view = browser.Buffer.from(buffer, 1, 2);
    const copy = browser.Buffer.from(view);
    view[0] = 9;
    expect([[...new Uint8Array(buffer)], [...copy]]).toEqual([
      [1, 9, 3, 4],
      [2, 3],
    ]);
    expect([browser.Buffer.isBuffer(copy), browser.Buffer.isBuffer(new Uint8Array(1))]).toEqual([
      true,
      false,
    ]);
  });

  it("have the same digests", () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array(), (text, bytes) => {
        const digest = ({ createHash }: typeof node | typeof browser) =>
          createHash("sha256").update(text).update(bytes).digest("base64url");
        expect(digest(browser)).toBe(digest(node));
      }),
    );
  });
});

const objects: readonly unknown[] = [
  {},
  [],
  () => 0,
  null,
  undefined,
  1,
  "a",
  new Map(),
  new Set(),
  new Date(),
  /a/g,
  RegExp.prototype,
  Date.prototype,
  new TypeError("a"),
  Object.create(Error.prototype),
  { [Symbol.toStringTag]: "Map" },
  Object(1),
  Object("a"),
  Object(true),
  Object(1n),
  Object(Symbol("a")),
  new ArrayBuffer(1),
  new SharedArrayBuffer(1),
  new Uint8Array(1),
  new Uint8ClampedArray(1),
  new DataView(new ArrayBuffer(1)),
  Object.setPrototypeOf(new Map(), Object.prototype),
  Object.setPrototypeOf(new Uint8Array(1), Object.prototype),
  Object.create(Map.prototype),
];

it("knows the same classes", () => {
  for (const name of Object.keys(browser.types) as (keyof typeof browser.types)[])
    for (const [index, object] of objects.entries())
      expect([name, index, browser.types[name](object)]).toEqual([
        name,
        index,
        node.types[name](object),
      ]);
});

describe("isDeepStrictEqual", () => {
  it("never takes different values for the same", () => {
    fc.assert(
      fc.property(anything, anything, (a, b) => {
        if (browser.isDeepStrictEqual(a, b)) expect(node.isDeepStrictEqual(a, b)).toBe(true);
      }),
    );
  });

  it("finds a copy of data the same, and a change in it", () => {
    const data = () => ({
      list: [1, -0, { at: new Date(5), bytes: Uint8Array.of(1) }],
      map: new Map([["a", new Set([1])]]),
      nothing: undefined,
    });
    expect(browser.isDeepStrictEqual(data(), data())).toBe(true);
    const changes: ((changed: ReturnType<typeof data>) => void)[] = [
      (changed) => (changed.list[1] = 0),
      (changed) => changed.list.push(2),
      (changed) => changed.map.set("b", new Set()),
      (changed) => Object.assign(changed.list[2]!, { at: new Date(6) }),
      (changed) => Object.assign(changed.list[2]!, { bytes: Uint8Array.of(2) }),
      (changed) => delete (changed as { nothing?: undefined }).nothing,
    ];
    for (const change of changes) {
      const changed = data();
      change(changed);
      expect(browser.isDeepStrictEqual(data(), changed)).toBe(false);
    }
  });

  it("ends for a value that contains itself", () => {
    const [a, b] = [{}, {}].map((object) => Object.assign(object, { self: object }));
    expect(browser.isDeepStrictEqual(a, b)).toBe(false);
  });
});

it("has random ids", () => {
  const ids = new Set(Array.from({ length: 100 }, () => browser.randomUUID()));
  expect(ids.size).toBe(100);
  for (const id of ids)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  const bytes = browser.randomFillSync(new Uint8Array(20), 4);
  expect(bytes.subarray(0, 4)).toEqual(new Uint8Array(4));
  expect(bytes.subarray(4)).not.toEqual(new Uint8Array(16));
});

it("waits for turns in order, and for times until it is aborted", async () => {
  const order: number[] = [];
  browser.callNextTurn(() => order.push(1));
  const turn = browser.nextTurn("a");
  order.push(0);
  expect([await turn, order]).toEqual(["a", [0, 1]]);
  expect(await browser.sleep(1, "b")).toBe("b");
  const controller = new AbortController();
  const sleeping = browser.sleep(60_000, undefined, { signal: controller.signal });
  controller.abort();
  await expect(sleeping).rejects.toMatchObject({ name: "AbortError" });
  await expect(
    browser.sleep(60_000, undefined, { signal: controller.signal }),
  ).rejects.toMatchObject({ name: "AbortError" });
});

it("knows what a function calls before its first await", async () => {
  const storage = new browser.AsyncLocalStorage<number>();
  const seen = await storage.run(1, async () => {
    const first = storage.getStore();
    await Promise.resolve();
    return [first, storage.getStore()];
  });
  expect([seen, storage.getStore()]).toEqual([[1, undefined], undefined]);
});

describe("the package in a browser", () => {
  it.each([
    ["a folder", () => browserEntry.openKv("./data")],
    ["a server", () => browserEntry.openKv("https://example.com", { token: "a" })],
    ["compat", () => browserEntry.openKv(":memory:", { compat: "deno" })],
    ["copyKv", () => browserEntry.copyKv("a", {} as never)],
    ["repairDatabase", () => browserEntry.repairDatabase("a", {} as never)],
  ])("refuses what needs files, sockets or V8: %s", async (_name, call) => {
    const error = await call().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(BrowserUnsupportedError);
    expect(error).toMatchObject({ code: "KW_BROWSER_UNSUPPORTED", retryable: false });
    expect((error as Error).message).toMatch(
      /^\w+: in a browser, Keywright .*\. .*remove "browser"/,
    );
  });
});
