/** The error of a method that reads several rows. */
export const readLimit = "{ReadLimitError} where it reads more than `maxReads`.";

/** The same error of a method that watches rows. */
export const readLimitInStream =
  "{ReadLimitError} in the stream, where it reads more than `maxReads`.";

/** The errors of every method that lists rows. */
export const listErrors: readonly string[] = [
  "{InvalidCursorError} for a cursor of another list.",
  readLimit,
  "{RangeError} where `take` is not a positive integer.",
];
