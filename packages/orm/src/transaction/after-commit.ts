/** A function to run after the commit of a transaction. `versionstamp` is null where it wrote nothing. */
export type AfterCommit = (versionstamp: string | null) => void | Promise<void>;

/** Runs all of them, one after another; then throws the first error of any. */
export async function runAfterCommit(
  functions: readonly AfterCommit[],
  versionstamp: string | null,
): Promise<void> {
  const errors: unknown[] = [];
  for (const run of functions) {
    try {
      await run(versionstamp);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
