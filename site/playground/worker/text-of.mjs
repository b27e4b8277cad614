import { inspect } from "loupe";

const longest = 2000;

/** Returns the text of one call of `console.log`: strings as they are, other values inspected. */
export function textOfCall(values) {
  return values.map((value) => (typeof value === "string" ? value : textOf(value))).join(" ");
}

/** Returns a value as one line of text, in the form of Node.js. */
export function textOf(value, truncate = longest) {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return inspect(value, { depth: 6, truncate });
}
