import type * as z from "zod";

const lineWidth = 96;

/**
 * The comment that stands above a declaration, with a line break behind it; nothing where there is nothing to say.
 *
 * @param text paragraphs and lines, which are kept; a line that is too long is broken between words, code in backticks being one.
 * @param indent columns in which the declaration will stand.
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

/** What a schema says of itself by `.describe()` or `.meta()`, also where it was wrapped as optional and the like since. */
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

/** Text in backticks, which a line break would tear apart. */
const codeSpan = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g;

/** Where a line can be broken: at the last space that is not too far, else at the first one behind. */
function breakBefore(line: string, width: number): number | undefined {
  const words = line.replaceAll(codeSpan, (span) => "`".repeat(span.length));
  const last = words.lastIndexOf(" ", width);
  const at = last > 0 ? last : words.indexOf(" ", width);
  return at > 0 ? at : undefined;
}
