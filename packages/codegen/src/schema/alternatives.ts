/** A type as the members of a union, each as text and none twice. Most types have one; `never` has none. */
export type Alternatives = readonly string[];

/** The union of some types. `unknown` takes in all others. */
export function unionOf(...types: readonly Alternatives[]): Alternatives {
  const members = new Set(types.flat());
  return members.has("unknown") ? ["unknown"] : [...members];
}

/** A type without one member of its union. */
export function without(type: Alternatives, member: string): Alternatives {
  return type.filter((alternative) => alternative !== member);
}

/** The type as text. Parentheses that it needs within a larger type are the caller's. */
export function textOf(type: Alternatives): string {
  return type.length === 0 ? "never" : type.join(" | ");
}
