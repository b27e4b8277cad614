import type * as z from "zod";

const lineWidth = 96;

/**
 * Returns the comment to put above a declaration, with a line break at its end. Returns an empty
 * string if there is no text.
 *
 * @param text Its paragraphs and lines are kept. A line that is too long is broken between words.
 * Code in backticks counts as one word.
 * @param indent the number of columns by which the declaration will be indented.
 */
export function docComment(text: string | undefined, indent = 0): string {
  if (text === undefined || text.trim() === "") return "";
  const lines = text
    .trim()
    .replaceAll("*/", "*\\/")
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .flatMap((line) => wrap(line.trimEnd(), lineWidth - indent));
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return ["/**", ...lines.map((line) => ` * ${line}`.trimEnd()), " */", ""].join("\n");
}

/** Returns the description of a schema, or of the schema that it wraps. */
export function descriptionOf(schema: z.core.$ZodType): string | undefined {
  const { description } = schema as { description?: unknown };
  if (typeof description === "string") return description;
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType };
  return innerType === undefined ? undefined : descriptionOf(innerType);
}

function wrap(line: string, width: number): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const at = breakBefore(rest, width);
    if (at === undefined) break;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at + 1);
  }
  return [...lines, rest];
}

/** Code in backticks, which must not be broken. */
const codeSpan = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g;

/** Returns the position of the last space within `width`, or of the first one after it. */
function breakBefore(line: string, width: number): number | undefined {
  const words = line.replaceAll(codeSpan, (span) => "`".repeat(span.length));
  const last = words.lastIndexOf(" ", width);
  const at = last > 0 ? last : words.indexOf(" ", width);
  return at > 0 ? at : undefined;
}
