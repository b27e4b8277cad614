import { awaitAll } from "./await-all.js";

/**
 * Calls a function for each item, and returns the results in the order of the list. After a call
 * that rejects, no further call begins, and the error is thrown after those that have begun.
 */
export async function inParallel<A, B>(
  list: readonly A[],
  maxConcurrent: number,
  run: (item: A) => Promise<B>,
): Promise<B[]> {
  const results: B[] = new Array(list.length);
  let next = 0;
  let hasFailed = false;
  const work = async (): Promise<void> => {
    while (next < list.length && !hasFailed) {
      const position = next++;
      try {
        results[position] = await run(list[position] as A);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await awaitAll(Array.from({ length: Math.min(maxConcurrent, list.length) }, work));
  return results;
}
