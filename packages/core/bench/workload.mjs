// What is done to a database, the same for every one that has Deno KV's interface.
import { entriesOf, idOf, randomIntegers } from "./rows.mjs";

const inFlight = 64;
/** Commits of one call, `inFlight` of them at a time. */
export const commitsPerCall = inFlight * 8;
export const entriesPerList = 1000;

/** Gets one random row. */
export function getRow(kv, keys) {
  let next = 0;
  return () => kv.get(keys[next++ % keys.length]);
}

/** Lists `entriesPerList` rows from a random one on. */
export function listRows(kv, keys) {
  const starts = firstHalf(keys);
  let next = 0;
  return async () => {
    const selector = { prefix: ["users"], start: starts[next++ % starts.length] };
    const options = { limit: entriesPerList, batchSize: 500 };
    let count = 0;
    for await (const entry of kv.list(selector, options)) if (entry.value !== null) count++;
    if (count !== entriesPerList) throw new Error(`${count} entries were listed`);
  };
}

/**
 * Creates rows, as the secondary-index guide does it: a commit checks that neither the row nor its unique index entry is
 * there, and sets both and one more index entry.
 */
export function createRows(kv, numbers) {
  const create = async ([row, unique, index]) => {
    const result = await kv
      .atomic()
      .check({ key: row[0], versionstamp: null }, { key: unique[0], versionstamp: null })
      .set(...row)
      .set(...unique)
      .set(...index)
      .commit();
    if (!result.ok) throw new Error("a commit was refused");
  };
  return perCall(() => entriesOf(numbers.next()), create);
}

/**
 * Updates rows: a commit checks that the row and its unique index entry are as they were, and sets both and one more index
 * entry. The rows are taken in turn, so that no two commits in flight are of the same one.
 */
export async function updateRows(kv, rows) {
  const versionstamps = [];
  for (let number = 0; number < rows; number++) {
    const [[key]] = entriesOf(number);
    versionstamps.push((await kv.get(key)).versionstamp);
  }
  const update = async ({ number, entries: [row, unique, index] }) => {
    const versionstamp = versionstamps[number];
    const result = await kv
      .atomic()
      .check({ key: row[0], versionstamp }, { key: unique[0], versionstamp })
      .set(...row)
      .set(...unique)
      .set(...index)
      .commit();
    if (!result.ok) throw new Error("a commit was refused");
    versionstamps[number] = result.versionstamp;
  };
  let next = 0;
  return perCall(() => {
    const number = next++ % rows;
    return { number, entries: entriesOf(number) };
  }, update);
}

/**
 * A mitata benchmark whose calls do `commit` for so many inputs, so many at a time. To make the inputs is no part of what
 * is measured.
 */
export function perCall(makeInput, commit) {
  return function* benchmark() {
    yield {
      0: () => Array.from({ length: commitsPerCall }, makeInput),
      bench: async (inputs) => {
        let next = 0;
        const commitInTurn = async () => {
          while (next < inputs.length) await commit(inputs[next++]);
        };
        await Promise.all(Array.from({ length: inFlight }, commitInTurn));
      },
    };
  };
}

/** Numbers of rows that are not there yet. */
export function freshNumbers(first) {
  let number = first;
  return { next: () => number++ };
}

/** Keys of random rows of a database that has so many. */
export function randomRowKeys(rows, count = 20_000) {
  const random = randomIntegers(7);
  return Array.from({ length: count }, () => ["users", idOf(random(rows))]);
}

/** The keys of ids that lie in the first half, so that there is enough to list from each. */
export function firstHalf(keys) {
  return keys.filter(([, id]) => id < "4");
}
