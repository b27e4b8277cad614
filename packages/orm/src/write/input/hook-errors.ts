/** The errors that hooks have thrown. */
const hookErrors = new WeakSet<object>();

/**
 * Calls a hook. If it throws, records the error for {@link isHookError} and throws it unchanged.
 *
 * @throws what the hook throws.
 */
export async function callHook<T>(hook: () => T | Promise<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (isObject(error)) hookErrors.add(error);
    throw error;
  }
}

/**
 * True if a hook threw an error. The class of the error does not show this, because hooks may throw
 * the same classes as the database.
 */
export function isHookError(error: unknown): boolean {
  // A primitive can only come from a hook, because databases throw objects.
  return !isObject(error) || hookErrors.has(error);
}

function isObject(error: unknown): error is object {
  return (typeof error === "object" && error !== null) || typeof error === "function";
}
