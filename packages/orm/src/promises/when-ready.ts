import { awaitAll } from "./await-all.js";

/** Passes a value to a function: synchronously, or after the promise if the value is one. */
export function whenReady<A, B>(
  value: A | Promise<A>,
  next: (value: A) => B | Promise<B>,
): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns all values: synchronously, or as a promise if one of them is a promise. */
export function allReady<T>(values: readonly (T | Promise<T>)[]): readonly T[] | Promise<T[]> {
  return values.some((value) => value instanceof Promise)
    ? awaitAll(values)
    : (values as readonly T[]);
}
