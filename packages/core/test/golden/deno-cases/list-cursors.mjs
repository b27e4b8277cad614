import { group } from "./case-list.mjs";
import { cursorsOf, keysOf } from "./read-list.mjs";
import { setLetters } from "./set-letters.mjs";

const selectors = {
  "no prefix": { prefix: [] },
  prefix: { prefix: ["k"] },
  "prefix and start": { prefix: ["k"], start: ["k", "b"] },
  "prefix and end": { prefix: ["k"], end: ["k", "c"] },
  "start and end": { start: ["k", "b"], end: ["k", "d"] },
  "start and end of one letter": { start: ["k", "b"], end: ["k", "b", 2] },
  "start and end far apart": { start: ["a"], end: ["z"] },
  "start and an end it begins": { start: ["k"], end: ["k", "c"] },
  "from the empty start": { start: [], end: ["k", "c"] },
  "start equal to end": { start: ["k"], end: ["k"] },
  "prefix that is not there": { prefix: ["x"] },
};

for (const [name, selector] of Object.entries(selectors)) {
  group(
    `cursors by ${name}`,
    {
      forward: ({ kv }) => cursorsOf(kv.list(selector)),
      reverse: ({ kv }) => cursorsOf(kv.list(selector, { reverse: true })),
      "in batches of 1": ({ kv }) => cursorsOf(kv.list(selector, { batchSize: 1 })),
      "in batches of 2, reverse": ({ kv }) =>
        cursorsOf(kv.list(selector, { batchSize: 2, reverse: true })),
      "with a limit": ({ kv }) => cursorsOf(kv.list(selector, { limit: 2 })),
      "pages of 1": ({ kv }) => pagesOf(kv, selector, { limit: 1 }),
      "pages of 1, reverse": ({ kv }) => pagesOf(kv, selector, { limit: 1, reverse: true }),
      "before the first": ({ kv }) => kv.list(selector).cursor,
      "before the first, of a cursor": ({ kv }) => kv.list(selector, { cursor: "AmEA" }).cursor,
    },
    setLetters,
  );
}

/** The keys of each page, gone through by cursor. */
async function pagesOf(kv, selector, options) {
  const pages = [];
  let cursor;
  do {
    const list = kv.list(selector, { ...options, cursor });
    pages.push([cursor, await keysOf(list)]);
    cursor = list.cursor;
  } while (cursor && pages.length < 20);
  return pages;
}

const cursorValues = {
  empty: "",
  null: null,
  "a number": 5,
  zero: 0,
  "an object": {},
  true: true,
  "of standard alphabet": "+/+/",
  "without its padding": "AmE",
  "with wrong padding": "AmEA=",
  "with bits left over": "AmF=",
  "with padding it needs": "AmE=",
  "of blanks": "    ",
  "of no base64": "%",
  "with another script": "ç",
  "of an emoji": "\u{1F600}",
  "of a lone surrogate": "\ud800",
  "of a part": "AmEA",
  "of a part before the start": "AAAA",
  "of a part after the end": "_w==",
  "of bytes that are no key": "ZZZZ",
  "of one byte": "Ag==",
};

for (const [name, cursor] of Object.entries(cursorValues)) {
  group(
    `a cursor ${name}`,
    {
      made: ({ kv }) => void kv.list({ prefix: ["k"] }, { cursor }),
      "by prefix": ({ kv }) => keysOf(kv.list({ prefix: ["k"] }, { cursor })),
      "by prefix, reverse": ({ kv }) =>
        keysOf(kv.list({ prefix: ["k"] }, { cursor, reverse: true })),
      "by prefix and start": ({ kv }) =>
        keysOf(kv.list({ prefix: ["k"], start: ["k", "b"] }, { cursor })),
      "by prefix and start, reverse": ({ kv }) =>
        keysOf(kv.list({ prefix: ["k"], start: ["k", "b"] }, { cursor, reverse: true })),
      "by prefix and end": ({ kv }) =>
        keysOf(kv.list({ prefix: ["k"], end: ["k", "c"] }, { cursor })),
      "by prefix and end, reverse": ({ kv }) =>
        keysOf(kv.list({ prefix: ["k"], end: ["k", "c"] }, { cursor, reverse: true })),
      "by start and end": ({ kv }) => keysOf(kv.list({ start: ["k"], end: ["l"] }, { cursor })),
      "by start and end, reverse": ({ kv }) =>
        keysOf(kv.list({ start: ["k"], end: ["l"] }, { cursor, reverse: true })),
    },
    setLetters,
  );
}
