export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { readonly then?: unknown }).then === "function"
  );
}

/**
 * Handles the rejection of a promise that nothing waits for, because a function that must be
 * synchronous returned it. Otherwise the rejection would end the process.
 */
export function ignoreRejection(promise: PromiseLike<unknown>): void {
  promise.then(undefined, () => undefined);
}
