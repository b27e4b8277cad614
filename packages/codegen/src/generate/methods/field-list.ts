/** Returns a list of fields for a comment, each in backticks: `teamId` and `score`. */
export function fieldList(fields: readonly string[]): string {
  const quoted = fields.map((field) => `\`${field}\``);
  const last = quoted.pop() ?? "";
  return quoted.length === 0 ? last : `${quoted.join(", ")} and ${last}`;
}
