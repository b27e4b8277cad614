/** Some fields in a comment: `teamId` and `score`, each in backticks. */
export function fieldList(fields: readonly string[]): string {
  const quoted = fields.map((field) => `\`${field}\``);
  const last = quoted.pop() ?? "";
  return quoted.length === 0 ? last : `${quoted.join(", ")} and ${last}`;
}
