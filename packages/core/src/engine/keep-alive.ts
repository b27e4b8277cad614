/** The longest interval of a timer, in milliseconds: about 25 days. */
const seldom = 2 ** 31 - 1;

/** Keeps the process alive, as a pending call of Deno KV does. The returned function ends that. */
export function keepAlive(): () => void {
  const timer = setInterval(() => undefined, seldom);
  return () => clearInterval(timer);
}
