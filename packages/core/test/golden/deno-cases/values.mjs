import { group } from "./case-list.mjs";

async function stored(kv, value) {
  await kv.set(["a"], value);
  return (await kv.get(["a"])).value;
}

class Point {
  x = 1;
}

const unsupported = {
  "a function": function named() {},
  "an arrow function": () => 1,
  "a class": Point,
  "a symbol": Symbol("s"),
  "a function in an object": { a: { f() {} } },
  "a symbol in an array": [Symbol("s")],
  "an instance of a class": new Point(),
  "an object without a prototype": Object.assign(Object.create(null), { a: 1 }),
  "a WeakMap": new WeakMap(),
  "a WeakSet": new WeakSet(),
  "a promise": Promise.resolve(1),
  "a SharedArrayBuffer": new SharedArrayBuffer(4),
  "a view of shared memory": new Uint8Array(new SharedArrayBuffer(4)),
  "a generator": (function* () {})(),
  "a proxy": new Proxy({}, {}),
};

for (const [name, value] of Object.entries(unsupported)) {
  group(name, {
    stored: ({ kv }) => stored(kv, value),
    "set, atomic": ({ kv }) => kv.atomic().set(["a"], value),
    "in a message": ({ kv }) => kv.enqueue(value),
    "in a message, atomic": ({ kv }) => kv.atomic().enqueue(value),
  });
}

group("a value", {
  undefined: ({ kv }) => stored(kv, undefined),
  "not given": async ({ kv }) => {
    await kv.set(["a"]);
    return (await kv.get(["a"])).value;
  },
  "a Uint8ClampedArray": async ({ kv }) =>
    (await stored(kv, new Uint8ClampedArray([1, 2]))).constructor.name,
  "a Uint16Array": async ({ kv }) => (await stored(kv, new Uint16Array([1, 2]))).constructor.name,
  "with a getter that throws": ({ kv }) =>
    kv.set(["a"], {
      get a() {
        throw new RangeError("no");
      },
    }),
  "a RangeError": async ({ kv }) => {
    const error = await stored(kv, new RangeError("a"));
    return [error instanceof RangeError, error.message];
  },
  "of an extended Map": async ({ kv }) => {
    class Extended extends Map {}
    const map = await stored(kv, new Extended([[1, 2]]));
    return [map.constructor.name, ...map];
  },
  "of a private field": async ({ kv }) => {
    class Hidden {
      #x = 1;
      y = 2;
      get x() {
        return this.#x;
      }
    }
    return await stored(kv, new Hidden());
  },
  "bytes that change before the commit": async ({ kv }) => {
    const value = new Uint8Array([1]);
    const atomic = kv.atomic().set(["a"], value);
    value[0] = 2;
    await atomic.commit();
    return (await kv.get(["a"])).value;
  },
  "bytes that change after the commit": async ({ kv }) => {
    const value = new Uint8Array([1]);
    const commit = kv.atomic().set(["a"], value).commit();
    value[0] = 2;
    await commit;
    return (await kv.get(["a"])).value;
  },
  "a copy": ({ kv }) => {
    const value = { a: 1 };
    const atomic = kv.atomic().set(["a"], value);
    value.a = 2;
    return atomic.commit().then(async () => (await kv.get(["a"])).value);
  },
});

group("expireIn", {
  0: ({ kv }) => expiring(kv, 0),
  "-0": ({ kv }) => expiring(kv, -0),
  "-1": ({ kv }) => expiring(kv, -1),
  "-0.5": ({ kv }) => expiring(kv, -0.5),
  NaN: ({ kv }) => expiring(kv, Number.NaN),
  "1e5": ({ kv }) => expiring(kv, 1e5),
  "1e5 and a half": ({ kv }) => expiring(kv, 1e5 + 0.5),
  "-1e5": ({ kv }) => expiring(kv, -1e5),
  undefined: ({ kv }) => expiring(kv, undefined),
  null: ({ kv }) => expiring(kv, null),
  "a string": ({ kv }) => expiring(kv, "100000"),
  "a bigint": ({ kv }) => expiring(kv, 100000n),
  "a large bigint": ({ kv }) => expiring(kv, 2n ** 64n),
  true: ({ kv }) => expiring(kv, true),
  "an object": ({ kv }) => expiring(kv, {}),
  "an atomic set's, built": ({ kv }) => kv.atomic().set(["a"], 1, { expireIn: "x" }),
  "1e300": ({ kv }) => expiring(kv, 1e300),
  "for longer than time": ({ kv }) => expiring(kv, 8.21e15),
  "for long": ({ kv }) => expiring(kv, 8.2e15),
  "a symbol": ({ kv }) => expiring(kv, Symbol("s")),
  "before a function": ({ kv }) => kv.set(["a"], () => 1, { expireIn: -1 }),
  "of a mutation": ({ kv }) =>
    kv.atomic().mutate({ key: ["a"], type: "set", value: 1, expireIn: -1 }),
  "of a mutation without a value": ({ kv }) =>
    kv.atomic().mutate({ key: ["a"], type: "set", expireIn: Number.NaN }),
  "of a mutation, null": ({ kv }) =>
    kv.atomic().mutate({ key: ["a"], type: "set", value: 1, expireIn: null }),
  "an atomic set's": ({ kv }) => kv.atomic().set(["a"], 1, { expireIn: "x" }).commit(),
  "null for options": ({ kv }) => kv.set(["a"], 1, null),
});

async function expiring(kv, expireIn) {
  const result = await kv.set(["a"], 1, { expireIn });
  return result.ok;
}
