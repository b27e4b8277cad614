import { group } from "./case-list.mjs";
import { bytes } from "./make-bytes.mjs";

const delays = {
  0: 0,
  "-1": -1,
  "-0.5": -0.5,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "30 days": 30 * 24 * 60 * 60 * 1000,
  "more than 30 days": 30 * 24 * 60 * 60 * 1000 + 1,
  100000.5: 100000.5,
  "a string": "100000",
  "a negative string": "-1",
  "a symbol": Symbol("s"),
  "a word": "x",
  null: null,
  "a bigint": 100000n,
  "an object": {},
  true: true,
};

for (const [name, delay] of Object.entries(delays)) {
  group(`delay of ${name}`, {
    enqueue: ({ kv }) => kv.enqueue(1, { delay }),
    "atomic, built": ({ kv }) => kv.atomic().enqueue(1, { delay }),
    "atomic, committed": ({ kv }) => kv.atomic().enqueue(1, { delay }).commit(),
  });
}

const schedules = {
  "with a bigint": [1n],
  "with true": [true],
  "an array-like of 6": { length: 6 },
  empty: [],
  "of 5": [1, 2, 3, 4, 5],
  "of 6": [1, 2, 3, 4, 5, 6],
  "with -1": [1, -1],
  "with NaN": [Number.NaN],
  "of an hour": [60 * 60 * 1000],
  "of more than an hour": [0, 60 * 60 * 1000 + 1],
  "with a fraction": [1.5],
  "with a string": ["5"],
  "with a word": ["x"],
  "with null": [null],
  "with undefined": [undefined],
  null: null,
  "a number": 5,
  "a string": "ab",
  "an object": {},
};

for (const [name, backoffSchedule] of Object.entries(schedules)) {
  group(`backoffSchedule ${name}`, {
    enqueue: ({ kv }) => kv.enqueue(1, { backoffSchedule }),
    "atomic, built": ({ kv }) => kv.atomic().enqueue(1, { backoffSchedule }),
    "atomic, committed": ({ kv }) => kv.atomic().enqueue(1, { backoffSchedule }).commit(),
  });
}

group("keysIfUndelivered", {
  empty: ({ kv }) => kv.enqueue(1, { keysIfUndelivered: [] }),
  null: ({ kv }) => kv.enqueue(1, { keysIfUndelivered: null }),
  "a string": ({ kv }) => kv.enqueue(1, { keysIfUndelivered: "ab" }),
  "a key": ({ kv }) => kv.enqueue(1, { keysIfUndelivered: ["a"] }),
  "an object": ({ kv }) => kv.enqueue(1, { keysIfUndelivered: {} }),
  "20 keys": ({ kv }) => kv.enqueue(1, { keysIfUndelivered: Array(20).fill(["a"]) }),
  "wrong, built": ({ kv }) => kv.atomic().enqueue(1, { keysIfUndelivered: [[null]] }),
});

group("enqueue", {
  "without options": ({ kv }) => kv.enqueue(1),
  "with null for options": ({ kv }) => kv.enqueue(1, null),
  undefined: ({ kv }) => kv.enqueue(undefined),
  "a KvU64": ({ kv, KvU64 }) => kv.enqueue(new KvU64(1n)),
  delivers: async ({ kv }) => await delivered(kv, { a: [1] }),
  "delivers a KvU64": async ({ kv, KvU64 }) => await delivered(kv, new KvU64(1n)),
  "delivers undefined": async ({ kv }) => await delivered(kv, undefined),
  "delivers bytes": async ({ kv }) => await delivered(kv, bytes(1, 2)),
});

async function delivered(kv, message) {
  const received = new Promise((resolve) => {
    kv.listenQueue(resolve).catch(() => undefined);
  });
  await kv.enqueue(message);
  return await received;
}
