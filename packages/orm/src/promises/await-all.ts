/**
 * Waits for all promises, also if one of them rejects: an operation that throws must not leave
 * others of its reads and writes running. Returns their values.
 *
 * @throws the error of the first promise in the list that rejects.
 */
export async function awaitAll<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const values: unknown[] = [];
  for (const result of await Promise.allSettled(promises)) {
    if (result.status === "rejected") throw result.reason;
    values.push(result.value);
  }
  return values as { -readonly [K in keyof T]: Awaited<T[K]> };
}
