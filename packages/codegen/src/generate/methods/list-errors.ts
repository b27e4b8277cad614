/** What a method that reads several rows may throw. */
export const readLimit = "{ReadLimitError} where it reads more than `maxReads`.";

/** The same of one that watches them. */
export const readLimitInStream =
  "{ReadLimitError} in the stream, where it reads more than `maxReads`.";

/** What every method that lists rows may throw. */
export const listErrors: readonly string[] = [
  "{InvalidCursorError} for a cursor of another list.",
  readLimit,
  "{RangeError} where `take` is not a positive integer.",
];
