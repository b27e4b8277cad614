/** The results of a function for each of a list, of which at the most so many are awaited at a time. */
export async function inParallel<A, B>(
  list: readonly A[],
  atOnce: number,
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
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, work));
  return results;
}
