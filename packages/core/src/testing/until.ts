/** Resolves when the clock has reached `time`, in milliseconds since the epoch. */
export async function until(time: number): Promise<void> {
  // A timer may fire slightly early.
  while (Date.now() < time) {
    await new Promise((resolve) => setTimeout(resolve, time - Date.now()));
  }
}
