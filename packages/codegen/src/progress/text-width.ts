import truncatedWidth from "fast-string-truncated-width";

/** The columns that a text takes in a terminal: two for a wide character, such as those of Chinese. */
export function textWidth(text: string): number {
  return truncatedWidth(text).width;
}

/** As much of the beginning of a text as there is room for in so many columns. */
export function cutToWidth(text: string, columns: number): string {
  return text.slice(0, truncatedWidth(text, { limit: columns, ellipsis: "" }).index);
}
