/** What every method that lists rows may throw. */
export const listErrors: readonly string[] = [
  "{InvalidCursorError} for a cursor of another list.",
  "{RangeError} where `take` is not a positive integer.",
];
