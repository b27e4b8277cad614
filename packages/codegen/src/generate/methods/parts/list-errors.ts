/** The error of a method that reads several rows. */
export const readLimit = "{ReadLimitError} if it needs more reads than `maxReads`.";

/** The same error of a method that watches rows. */
export const readLimitInStream =
  "{ReadLimitError} in the stream, if it needs more reads than `maxReads`.";

/** The error of a method that adds up numbers. */
export const unsafeSum =
  "{InvalidQueryError} if a sum of numbers is larger than a number can hold exactly.";

/** The sentence of every method that returns a `RowQuery`. */
export const awaitOrIterate = "Await the result for a page, or iterate over it with `for await`.";

/** The errors of every method that lists rows. */
export const listErrors: readonly string[] = [
  "{InvalidCursorError} if the cursor belongs to another list.",
  readLimit,
  "{InvalidArgumentError} if `take` is not a positive integer.",
];
