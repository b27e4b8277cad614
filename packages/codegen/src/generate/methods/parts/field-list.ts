/** Returns a list of fields for a comment, each in backticks: `teamId` and `score`. */
export function fieldList(fields: readonly string[]): string {
  return joinWithAnd(fields.map((field) => `\`${field}\``));
}

/** `a`, `b` and `c`. */
export function joinWithAnd(texts: readonly string[]): string {
  const first = texts.slice(0, -1);
  const last = texts.at(-1) ?? "";
  return first.length === 0 ? last : `${first.join(", ")} and ${last}`;
}
