/** Longer than any process runs between two timers: about 25 days, the longest that a timer can wait. */
const seldom = 2 ** 31 - 1;

/** Keeps the process running, as a pending call of Deno KV's does, until the returned function is called. */
export function keepAlive(): () => void {
  const timer = setInterval(() => undefined, seldom);
  return () => clearInterval(timer);
}
