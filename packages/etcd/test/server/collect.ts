/** Returns all that an iterator yields. */
export async function collect<T>(iterator: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const each of iterator) collected.push(each);
  return collected;
}
