/** Resolves when the clock shows a time, in milliseconds since the epoch, or a later one. */
export async function until(time: number): Promise<void> {
  // A timer may come a little early.
  while (Date.now() < time) {
    await new Promise((resolve) => setTimeout(resolve, time - Date.now()));
  }
}
