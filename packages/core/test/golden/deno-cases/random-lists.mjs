import { group } from "./case-list.mjs";
import { bytes } from "./make-bytes.mjs";
import { cursorsOf } from "./read-list.mjs";

const parts = [
  "a",
  "a\0",
  "b",
  "",
  0,
  -0,
  1,
  -2.5,
  1n,
  -1n,
  300n,
  true,
  false,
  bytes(0),
  bytes(0, 255),
];

/**
 * Whole numbers below `limit` that are the same in every run, by a linear congruential generator.
 */
function numbersFrom(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function randomKey(random, least) {
  return Array.from({ length: least + random(3 - least) }, () => parts[random(parts.length)]);
}

async function setRandom({ kv }) {
  const random = numbersFrom(1);
  const atomic = kv.atomic();
  for (let i = 0; i < 150; i++) atomic.set(randomKey(random, 1), i);
  await atomic.commit();
}

function randomSelector(random) {
  const prefix = randomKey(random, 0);
  switch (random(5)) {
    case 0:
      return { prefix };
    case 1:
      return { prefix, start: [...prefix, ...randomKey(random, 1)] };
    case 2:
      return { prefix, end: [...prefix, ...randomKey(random, 1)] };
    case 3:
      return { prefix, start: randomKey(random, 0) };
    default:
      return { start: randomKey(random, 0), end: randomKey(random, 0) };
  }
}

function randomOptions(random) {
  const options = { reverse: random(2) === 0 };
  if (random(3) === 0) options.limit = 1 + random(12);
  if (random(3) === 0) options.batchSize = 1 + random(5);
  if (random(3) === 0) options.cursor = randomCursor(random);
  return options;
}

/** Of bytes that may be a part, or some of one. */
function randomCursor(random) {
  const tail = Array.from(
    { length: 1 + random(4) },
    () => [0, 1, 2, 0x14, 0x15, 0x21, 0x27, 0x61, 255][random(9)],
  );
  return btoa(String.fromCharCode(...tail))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

const random = numbersFrom(2);
const lists = Array.from({ length: 250 }, () => [randomSelector(random), randomOptions(random)]);

group(
  "a random list",
  Object.fromEntries(
    lists.map(([selector, options], i) => [
      `${i + 1}`,
      async ({ kv }) => (await cursorsOf(kv.list(selector, options))).join(" "),
    ]),
  ),
  setRandom,
);
