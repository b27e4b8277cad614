/** Letters and digits for the properties of Unicode that a pattern may name. */
const properties: readonly (readonly [RegExp, string])[] = [
  [/^(L|Letter|Alphabetic|Alpha)$/, "A-Za-z"],
  [/^(Lu|Uppercase_Letter|Uppercase)$/, "A-Z"],
  [/^(Ll|Lowercase_Letter|Lowercase)$/, "a-z"],
  [/^(N|Nd|Number|Decimal_Number)$/, "0-9"],
  [/^(Z|Zs|White_Space)$/, " "],
  [/^(P|Pd|Punctuation)$/, "\\-"],
];

/**
 * Rewrites the parts of a pattern that randexp does not know: groups with a name, and common
 * properties of Unicode. The new pattern matches fewer texts.
 *
 * @param repeats replaces quantifiers without an upper limit, as in `a*`.
 */
export function simplePattern({ source, flags }: RegExp, repeats?: number): RegExp {
  let isInClass = false;
  const text = source.replaceAll(
    /\\p\{([^}]*)\}|\\k<[^>]*>|\\.|\(\?<(?![=!])[^>]*>|[[\]*+]|\{(\d+),\}/gs,
    (part, property: string | undefined, minimum: string | undefined) => {
      if (property !== undefined) {
        const characters = properties.find(([name]) => name.test(property))?.[1];
        if (characters === undefined) return part;
        return isInClass ? characters : `[${characters}]`;
      }
      if (part === "[") isInClass = true;
      else if (part === "]") isInClass = false;
      const least = part === "+" ? 1 : part === "*" ? 0 : minimum && Number(minimum);
      if (!isInClass && repeats !== undefined && typeof least === "number")
        return `{${Math.max(least, repeats)}}`;
      return part.startsWith("(?<") ? "(" : part;
    },
  );
  try {
    return new RegExp(text, flags.replaceAll(/[uvgy]/g, ""));
  } catch {
    return new RegExp(source, flags);
  }
}
