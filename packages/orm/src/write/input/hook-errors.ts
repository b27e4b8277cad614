/** What hooks threw. */
const thrown = new WeakSet<object>();

/**
 * Calls a hook. What it throws is known by {@link isHookError} from then on, and is no less the error that the hook threw.
 *
 * @throws what the hook throws.
 */
export async function callHook<T>(hook: () => T | Promise<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (isObject(error)) thrown.add(error);
    throw error;
  }
}

/** Whether a hook threw this, whatever it looks like: what the database itself says looks the same. */
export function isHookError(error: unknown): boolean {
  // No database throws what is no object.
  return !isObject(error) || thrown.has(error);
}

function isObject(error: unknown): error is object {
  return (typeof error === "object" && error !== null) || typeof error === "function";
}
