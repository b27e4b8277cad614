import truncatedWidth from "fast-string-truncated-width";

/** Returns the width of a text in columns. A wide character, such as 中, takes two. */
export function textWidth(text: string): number {
  return truncatedWidth(text).width;
}

/** Returns the beginning of a text that fits into a number of columns. */
export function cutToWidth(text: string, columns: number): string {
  let cut = text.slice(0, truncatedWidth(text, { limit: columns, ellipsis: "" }).index);
  // Version 3 returns one character too many after one of ambiguous width, such as U+FFFD.
  while (textWidth(cut) > columns) cut = cut.replace(/.$/su, "");
  return cut;
}
