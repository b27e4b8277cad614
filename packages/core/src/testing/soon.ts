/**
 * Milliseconds. It only ends what hangs: on a busy machine, what takes milliseconds elsewhere takes
 * many seconds.
 */
const longest = 60_000;

/**
 * Returns the result of a promise. If there is none after `time` milliseconds, throws an error that
 * names `what`.
 */
export async function soon<T>(
  what: string,
  promise: Promise<T>,
  time: number = longest,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come in time`)), time);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when the clock has reached `time`, in milliseconds since the epoch. */
export async function until(time: number): Promise<void> {
  // A timer may fire slightly early.
  while (Date.now() < time) {
    await new Promise((resolve) => setTimeout(resolve, time - Date.now()));
  }
}
