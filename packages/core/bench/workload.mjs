// The operations that are measured, for every database with Deno KV's interface.
import { entriesOf, idOf, randomIntegers } from "./rows.mjs";

const inFlight = 64;
/** The number of commits of one call. */
export const commitsPerCall = inFlight * 8;
export const entriesPerList = 1000;

/** Gets one random row. */
export function getRow(kv, keys) {
  let next = 0;
  return () => kv.get(keys[next++ % keys.length]);
}

/** Lists `entriesPerList` rows, beginning at a random one. */
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
 * Creates rows as the guide to secondary indexes does: a commit checks that the row and its unique
 * index entry are absent, and sets both and another index entry.
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
 * Updates rows: a commit checks that the row and its unique index entry are unchanged, and sets
 * both and another index entry. Rows are updated in turn, so that no two commits in flight have the
 * same row.
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
 * Returns a mitata benchmark. Each call commits `commitsPerCall` inputs, `inFlight` at a time.
 * Making the inputs is not measured.
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

/** Returns a generator of the numbers of new rows. */
export function freshNumbers(first) {
  let number = first;
  return { next: () => number++ };
}

/** Returns the keys of random rows of a database with `rows` rows. */
export function randomRowKeys(rows, count = 20_000) {
  const random = randomIntegers(7);
  return Array.from({ length: count }, () => ["users", idOf(random(rows))]);
}

/** Returns the keys whose ids are in the first half, so that enough rows follow each. */
export function firstHalf(keys) {
  return keys.filter(([, id]) => id < "4");
}
