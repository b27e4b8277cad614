/** Longer than anything takes that a test waits for, shorter than the test runners' patience. */
const longest = 4000;

/** The result of a promise, or an error that names it where it is not there after some time, in milliseconds. */
export async function soon<T>(
  what: string,
  promise: Promise<T>,
  time: number = longest,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), time);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
