import truncatedWidth from "fast-string-truncated-width";

/**
 * Returns the number of columns that a text takes in a terminal. A wide character, such as a
 * Chinese one, takes two.
 */
export function textWidth(text: string): number {
  return truncatedWidth(text).width;
}

/** Returns the beginning of a text that fits into a number of columns. */
export function cutToWidth(text: string, columns: number): string {
  return text.slice(0, truncatedWidth(text, { limit: columns, ellipsis: "" }).index);
}
