/** Runs after the commit. `versionstamp` is null if the transaction wrote nothing. */
export type AfterCommit = (versionstamp: string | null) => void | Promise<void>;

/** Runs all functions in order. If any of them throw, throws the first error at the end. */
export async function runAfterCommit(
  functions: readonly AfterCommit[],
  versionstamp: string | null,
): Promise<void> {
  const errors: unknown[] = [];
  for (const run of functions) {
    try {
      const running = run(versionstamp);
      if (running !== undefined) await running;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
