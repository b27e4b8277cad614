/**
 * Waits for all promises, also if one of them rejects: an operation that throws must not leave
 * others that it has started running. Returns their values.
 *
 * @throws the error of the first promise in the list that rejects.
 */
export async function awaitAll<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return await Promise.all(promises);
}
