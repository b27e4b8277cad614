/** Calls a function for each item, and returns the results in the order of the list. */
export async function inParallel<A, B>(
  list: readonly A[],
  maxConcurrent: number,
  run: (item: A) => Promise<B>,
): Promise<B[]> {
  const results: B[] = new Array(list.length);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < list.length) {
      const position = next++;
      results[position] = await run(list[position] as A);
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, list.length) }, work));
  return results;
}
