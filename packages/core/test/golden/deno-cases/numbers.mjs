import { group } from "./case-list.mjs";
import { bytes } from "./make-bytes.mjs";

// Sums of numbers and bigints, which Deno adds but does not document

const addends = { "a number": 2, "a bigint": 2n };
const augends = {
  "a KvU64": (KvU64) => new KvU64(1n),
  "a number": () => 1,
  "a bigint": () => 1n,
  "a string": () => "a",
  bytes: () => bytes(1, 0, 0, 0, 0, 0, 0, 0),
  null: () => null,
  "an object": () => ({}),
};

for (const [name, addend] of Object.entries(addends)) {
  for (const [stored, make] of Object.entries(augends))
    group(`mutate sum of ${name}`, {
      [`on ${stored}`]: ({ kv, KvU64 }) =>
        mutated(kv, make(KvU64), { key: ["a"], type: "sum", value: addend }, true),
    });
}

const operands = {
  0: 0n,
  1: 1n,
  "-1": -1n,
  "2 ** 64 - 1": 2n ** 64n - 1n,
  "2 ** 64": 2n ** 64n,
  "a number": 1,
  "a string": "1",
  undefined: undefined,
  null: null,
  "an object": {},
};

for (const operation of ["sum", "min", "max"]) {
  for (const [name, operand] of Object.entries(operands)) {
    group(`${operation} of ${name}`, {
      built: ({ kv }) => kv.atomic()[operation](["a"], operand),
      "on nothing": ({ kv }) => changed(kv, undefined, operation, operand),
      "on 5": ({ kv, KvU64 }) => changed(kv, new KvU64(5n), operation, operand),
    });
  }
  const others = {
    "a number": 1,
    "a bigint": 1n,
    bytes: bytes(1, 0, 0, 0, 0, 0, 0, 0),
    "a string": "1",
    null: null,
    undefined: undefined,
    "an object": { value: 1n },
  };
  for (const [name, value] of Object.entries(others)) {
    group(`${operation} on`, {
      [name]: ({ kv }) => changed(kv, value, operation, 1n, true),
    });
    group(`mutate ${operation} with`, {
      [`${name}, built`]: ({ kv }) => kv.atomic().mutate({ key: ["a"], type: operation, value }),
      [`${name}, on nothing`]: ({ kv }) =>
        mutated(kv, undefined, { key: ["a"], type: operation, value }),
      [`${name}, on a KvU64`]: ({ kv, KvU64 }) =>
        mutated(kv, new KvU64(5n), { key: ["a"], type: operation, value }),
      [`${name}, on the same`]: ({ kv }) =>
        mutated(kv, value, { key: ["a"], type: operation, value }, true),
    });
  }
}

// Sums beside other mutations of their key
const sequences = {
  "set, sum": [set(5), sum(3)],
  "sum, sum": [sum(3), sum(4)],
  "sum, sum of another type": [sum(3), sum(4n)],
  "sum, delete, sum": [sum(3), { type: "delete" }, sum(4n)],
  "sum, sum of a KvU64": [sum(3), (KvU64) => sum(new KvU64(4n))],
  "set, min, sum": [
    (KvU64) => set(new KvU64(5n)),
    (KvU64) => ({ type: "min", value: new KvU64(3n) }),
    sum(1n),
  ],
  "set, sum, sum of a KvU64": [
    (KvU64) => set(new KvU64(5n)),
    sum(3n),
    (KvU64) => sum(new KvU64(2n)),
  ],
  "set to 2 ** 64 - 1, sum": [(KvU64) => set(new KvU64(2n ** 64n - 1n)), sum(1n)],
  "set to a KvU64, sum of -1": [(KvU64) => set(new KvU64(5n)), sum(-1n)],
  "set to a KvU64, sum of 2 ** 64": [(KvU64) => set(new KvU64(5n)), sum(2n ** 64n)],
  "sum, versionstamped set": [
    sum(3),
    (_, kv) => ({ ...set(1), key: ["a", kv.commitVersionstamp()] }),
  ],
};

for (const [name, mutations] of Object.entries(sequences)) {
  group("mutations of one key", {
    [name]: async ({ kv, KvU64 }) => {
      const made = mutations.map((each) => (typeof each === "function" ? each(KvU64, kv) : each));
      await kv
        .atomic()
        .mutate(...made.map((each) => ({ key: ["a"], ...each })))
        .commit();
      return (await kv.get(["a"])).value;
    },
  });
}

function set(value) {
  return { type: "set", value };
}

function sum(value) {
  return { type: "sum", value };
}

async function changed(kv, before, operation, operand, isSet = before !== undefined) {
  if (isSet) await kv.set(["a"], before);
  await kv.atomic()[operation](["a"], operand).commit();
  return (await kv.get(["a"])).value;
}

async function mutated(kv, before, mutation, isSet = before !== undefined) {
  if (isSet) await kv.set(["a"], before);
  await kv.atomic().mutate(mutation).commit();
  return (await kv.get(["a"])).value;
}

group("mutate", {
  nothing: ({ kv }) => kv.atomic().mutate(),
  null: ({ kv }) => kv.atomic().mutate(null),
  undefined: ({ kv }) => kv.atomic().mutate(undefined),
  "an empty object": ({ kv }) => kv.atomic().mutate({}),
  "no type": ({ kv }) => kv.atomic().mutate({ key: ["a"], value: 1 }),
  "an unknown type": ({ kv }) => kv.atomic().mutate({ key: ["a"], type: "append", value: 1 }),
  "a versionstamped type": ({ kv }) =>
    kv.atomic().mutate({ key: ["a"], type: "setSuffixVersionstampedKey", value: 1 }),
  "set without a value": ({ kv }) => kv.atomic().mutate({ key: ["a"], type: "set" }),
  "sum without a value": ({ kv }) => kv.atomic().mutate({ key: ["a"], type: "sum" }),
  "set of undefined": ({ kv }) => mutated(kv, 1, { key: ["a"], type: "set", value: undefined }),
  "set of an inherited value": ({ kv }) =>
    kv.atomic().mutate(Object.assign(Object.create({ value: 1 }), { key: ["a"], type: "set" })),
  "delete with a value": ({ kv }) => kv.atomic().mutate({ key: ["a"], type: "delete", value: 1 }),
  "delete with 0": ({ kv }) => mutated(kv, 1, { key: ["a"], type: "delete", value: 0 }),
  "delete with undefined": ({ kv }) =>
    mutated(kv, 1, { key: ["a"], type: "delete", value: undefined }),
  "delete with expireIn": ({ kv }) => mutated(kv, 1, { key: ["a"], type: "delete", expireIn: 1 }),
  "without a key, built": ({ kv }) => kv.atomic().mutate({ type: "delete" }),
  "without a key": ({ kv }) => kv.atomic().mutate({ type: "delete" }).commit(),
  "several, the last wrong": ({ kv }) => {
    const atomic = kv.atomic();
    try {
      atomic.mutate({ key: ["a"], type: "set", value: 1 }, { key: ["b"], type: "x" });
    } catch {
      // What came before it is part of the operation.
    }
    return atomic.commit().then(async () => (await kv.get(["a"])).value);
  },
  "set with expireIn as a string": ({ kv }) =>
    mutated(kv, 1, { key: ["a"], type: "set", value: 2, expireIn: "x" }),
  "set of a function": ({ kv }) => kv.atomic().mutate({ key: ["a"], type: "set", value: () => 1 }),
  "sum with a number for KvU64": ({ kv }) =>
    kv
      .atomic()
      .mutate({ key: ["a"], type: "sum", value: 1 })
      .commit(),
  "in order": async ({ kv, KvU64 }) => {
    await kv
      .atomic()
      .mutate(
        { key: ["a"], type: "set", value: new KvU64(7n) },
        { key: ["a"], type: "sum", value: new KvU64(2n ** 64n - 1n) },
        { key: ["a"], type: "min", value: new KvU64(100n) },
        { key: ["a"], type: "max", value: new KvU64(3n) },
      )
      .commit();
    return await kv.get(["a"]);
  },
});

group("KvU64", {
  "of nothing": ({ KvU64 }) => new KvU64(),
  "of a number": ({ KvU64 }) => new KvU64(1),
  "of a string": ({ KvU64 }) => new KvU64("1"),
  "of null": ({ KvU64 }) => new KvU64(null),
  "of a boxed bigint": ({ KvU64 }) => new KvU64(Object(1n)),
  "of -1": ({ KvU64 }) => new KvU64(-1n),
  "of 2 ** 64": ({ KvU64 }) => new KvU64(2n ** 64n),
  "of 2 ** 64 - 1": ({ KvU64 }) => new KvU64(2n ** 64n - 1n),
  "as a value": ({ KvU64 }) => [new KvU64(1n).valueOf(), `${new KvU64(1n)}`],
  "its tag": ({ KvU64 }) => Object.prototype.toString.call(new KvU64(1n)),
  "in an object": ({ kv, KvU64 }) => stored(kv, { n: new KvU64(1n) }),
  "in an array": ({ kv, KvU64 }) => stored(kv, [new KvU64(1n)]),
  stored: ({ kv, KvU64 }) => stored(kv, new KvU64(1n)),
});
