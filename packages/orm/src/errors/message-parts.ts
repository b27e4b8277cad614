/** Returns names as a list in a sentence: `a`, `a and b`, `a, b and c`. */
export function listText(names: readonly string[], conjunction: "and" | "or" = "and"): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} ${conjunction} ${last}`;
}

/** Returns a text without full stops at its end, as a clause of a message. */
export function clause(text: string): string {
  return text.replace(/[.\s]+$/, "");
}
