import { group } from "./case-list.mjs";
import { keysOf } from "./read-list.mjs";
import { setLetters } from "./set-letters.mjs";

const oddSelectors = {
  nothing: {},
  null: null,
  undefined: undefined,
  "a string": "abc",
  "a number": 5,
  "an array": ["k"],
  "a start only": { start: ["k"] },
  "an end only": { end: ["k"] },
  "prefix, start and end": { prefix: ["k"], start: ["k", "a"], end: ["k", "b"] },
  "a prefix that is undefined": { prefix: undefined },
  "a prefix that is null": { prefix: null },
  "a start that is null": { prefix: ["k"], start: null },
  "a start that is undefined": { prefix: ["k"], start: undefined },
  "an undefined prefix beside start and end": { prefix: undefined, start: ["k"], end: ["l"] },
  "a start outside": { prefix: ["k"], start: ["l"] },
  "a start that is the prefix": { prefix: ["k"], start: ["k"] },
  "a start with a longer string": { prefix: ["k"], start: ["k\0b"] },
  "an end outside": { prefix: ["k"], end: ["l"] },
  "an end that is the prefix": { prefix: ["k"], end: ["k"] },
  "a start after the end": { start: ["l"], end: ["k"] },
  "a start as a string": { start: "k", end: ["l"] },
  "an inherited prefix": Object.create({ prefix: ["k"] }),
  "an empty start and end": { start: [], end: [] },
  "an empty prefix with a start": { prefix: [], start: ["k", "c"] },
  "a wrong part in start": { prefix: ["k"], start: ["k", null] },
  "a wrong part in end": { start: ["k"], end: ["k", null] },
};

for (const [name, selector] of Object.entries(oddSelectors)) {
  group(
    `a selector of ${name}`,
    {
      made: ({ kv }) => void kv.list(selector),
      read: ({ kv }) => keysOf(kv.list(selector)),
    },
    setLetters,
  );
}

const numbers = {
  0: 0,
  "-0": -0,
  "-1": -1,
  NaN: Number.NaN,
  1.5: 1.5,
  0.5: 0.5,
  Infinity: Number.POSITIVE_INFINITY,
  "a string": "2",
  "a word": "x",
  null: null,
  true: true,
  "a bigint": 2n,
  "an object": {},
  2: 2,
};

for (const [name, number] of Object.entries(numbers)) {
  group(
    `a list with ${name} for`,
    {
      "limit, made": ({ kv }) => void kv.list({ prefix: ["k"] }, { limit: number }),
      limit: ({ kv }) => keysOf(kv.list({ prefix: ["k"] }, { limit: number })),
      "batchSize, made": ({ kv }) => void kv.list({ prefix: ["k"] }, { batchSize: number }),
      batchSize: ({ kv }) => keysOf(kv.list({ prefix: ["k"] }, { batchSize: number })),
      "limit, with a batchSize": ({ kv }) =>
        keysOf(kv.list({ prefix: ["k"] }, { limit: number, batchSize: 2 })),
      reverse: ({ kv }) => keysOf(kv.list({ prefix: ["k"] }, { reverse: number })),
      consistency: ({ kv }) => keysOf(kv.list({ prefix: ["k"] }, { consistency: number })),
    },
    setLetters,
  );
}

group(
  "a list",
  {
    "without options": ({ kv }) => keysOf(kv.list({ prefix: ["k"] })),
    "with null for options": ({ kv }) => void kv.list({ prefix: ["k"] }, null),
    "with weak consistency": ({ kv }) =>
      keysOf(kv.list({ prefix: ["k"] }, { consistency: "weak" })),
    "with eventual consistency": ({ kv }) =>
      keysOf(kv.list({ prefix: ["k"] }, { consistency: "eventual" })),
    "its names": ({ kv }) => {
      const list = kv.list({ prefix: ["k"] });
      return [
        typeof list.next,
        typeof list.return,
        typeof list.throw,
        typeof list[Symbol.iterator],
      ];
    },
    "gives itself": ({ kv }) => {
      const list = kv.list({ prefix: ["k"] });
      return list[Symbol.asyncIterator]() === list;
    },
    "goes on after a break": async ({ kv }) => {
      const list = kv.list({ prefix: ["k"] });
      for await (const _ of list) break;
      return await keysOf(list);
    },
    "at its end": async ({ kv }) => {
      const list = kv.list({ prefix: ["k"] });
      const keys = await keysOf(list);
      return [keys, await list.next(), await list.next(), list.cursor];
    },
    "at its limit": async ({ kv }) => {
      const list = kv.list({ prefix: ["k"] }, { limit: 2 });
      const keys = await keysOf(list);
      return [keys, await list.next(), await list.next(), list.cursor];
    },
    "at a limit that is all": async ({ kv }) => {
      const list = kv.list({ prefix: ["k"] }, { limit: 5 });
      return [await keysOf(list), list.cursor];
    },
    "with changed selector": async ({ kv }) => {
      const selector = { prefix: ["k"] };
      const list = kv.list(selector);
      selector.prefix[0] = "x";
      return await keysOf(list);
    },
    "an entry": async ({ kv }) => (await kv.list({ prefix: ["l"], start: ["l", 0] }).next()).done,
    "an entry's names": async ({ kv }) =>
      Object.keys((await kv.list({ prefix: ["k"] }).next()).value),
    "limit and batchSize": ({ kv }) =>
      keysOf(kv.list({ prefix: ["k"] }, { limit: 3, batchSize: 2 })),
    "without a selector": ({ kv }) => void kv.list(),
  },
  setLetters,
);

const cursors = { "behind the first": "AmEA", "behind the last": "AmQA", "that is wrong": "%" };

for (const [name, cursor] of Object.entries(cursors)) {
  group(
    `a list from a cursor ${name}`,
    {
      "its cursor": ({ kv }) => kv.list({ prefix: ["k"] }, { cursor }).cursor,
      "read twice": async ({ kv }) => {
        const list = kv.list({ prefix: ["k"] }, { cursor });
        const first = await list.next().catch((error) => error.message);
        return [first, await list.next()];
      },
    },
    setLetters,
  );
}

group("wrong at once", {
  "limit, batchSize and selector": ({ kv }) => kv.list({}, { limit: -1, batchSize: 0 }),
  "batchSize and selector": ({ kv }) => kv.list({}, { batchSize: 0 }),
  "key and cursor": ({ kv }) => kv.list({ prefix: [null] }, { cursor: 5 }).next(),
  "cursor and consistency": ({ kv }) =>
    kv.list({ prefix: [] }, { cursor: 5, consistency: 5 }).next(),
  "cursor and batchSize": ({ kv }) =>
    kv.list({ prefix: [] }, { cursor: "%", batchSize: 2000 }).next(),
  "start and cursor": ({ kv }) => kv.list({ prefix: ["k"], start: ["l"] }, { cursor: "%" }).next(),
});

async function setMany({ kv }) {
  for (let i = 0; i < 1200; i += 300) {
    const atomic = kv.atomic();
    for (let j = i; j < i + 300; j++) atomic.set(["k", j], j);
    await atomic.commit();
  }
}

/** How many entries a list gives, and whether each of them is the one behind the last. */
async function countInOrder(list, step) {
  let count = 0;
  let last;
  let isInOrder = true;
  for await (const { value } of list) {
    isInOrder &&= last === undefined || value === last + step;
    last = value;
    count++;
  }
  return [count, isInOrder, last, list.cursor];
}

group(
  "a list of many",
  {
    forward: ({ kv }) => countInOrder(kv.list({ prefix: ["k"] }), 1),
    reverse: ({ kv }) => countInOrder(kv.list({ prefix: ["k"] }, { reverse: true }), -1),
    "in batches of 7": ({ kv }) => countInOrder(kv.list({ prefix: ["k"] }, { batchSize: 7 }), 1),
    "in batches of 1000": ({ kv }) =>
      countInOrder(kv.list({ prefix: ["k"] }, { batchSize: 1000 }), 1),
    "up to 1100": ({ kv }) => countInOrder(kv.list({ prefix: ["k"] }, { limit: 1100 }), 1),
    "up to 1100, from a cursor": async ({ kv }) => {
      const first = kv.list({ prefix: ["k"] }, { limit: 50 });
      await countInOrder(first, 1);
      return await countInOrder(
        kv.list({ prefix: ["k"] }, { limit: 1100, cursor: first.cursor }),
        1,
      );
    },
  },
  setMany,
);
