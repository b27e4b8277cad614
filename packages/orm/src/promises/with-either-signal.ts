/**
 * Calls a function with a signal that is aborted when one of two is. Unlike `AbortSignal.any`, it
 * keeps no memory until the longer-living one ends, as Node.js 20 does.
 */
export async function withEitherSignal<T>(
  first: AbortSignal,
  second: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (second === undefined) return await call(first);
  const either = new AbortController();
  const abort = () => either.abort(first.aborted ? first.reason : second.reason);
  for (const signal of [first, second]) signal.addEventListener("abort", abort);
  try {
    if (first.aborted || second.aborted) abort();
    return await call(either.signal);
  } finally {
    for (const signal of [first, second]) signal.removeEventListener("abort", abort);
  }
}
