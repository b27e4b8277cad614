/** A type as the members of a union, each as text and none twice. Most types have one; `never` has none. */
export type Alternatives = readonly string[];

/** The union of some types. `any` and `unknown` take in all others, and `string` its literals. */
export function unionOf(...types: readonly Alternatives[]): Alternatives {
  const members = new Set(types.flat());
  if (members.has("any")) return ["any"];
  if (members.has("unknown")) return ["unknown"];
  return [...members].filter((member) => {
    const kind = literalKind(member);
    return kind === undefined || !members.has(kind);
  });
}

/** Whether a type takes in all others. */
export function isOpenType(type: Alternatives): boolean {
  return type.includes("any") || type.includes("unknown");
}

/** The type of which a member is a literal; undefined for other members. */
function literalKind(member: string): string | undefined {
  if (/^"(?:[^"\\]|\\.)*"$/.test(member)) return "string";
  if (/^-?\d[\d.]*(e[+-]?\d+)?$/.test(member)) return "number";
  if (/^-?\d+n$/.test(member)) return "bigint";
  return member === "true" || member === "false" ? "boolean" : undefined;
}

/** A type without one member of its union. */
export function without(type: Alternatives, member: string): Alternatives {
  return type.filter((alternative) => alternative !== member);
}

/** The type as text. Parentheses that it needs within a larger type are the caller's. */
export function textOf(type: Alternatives): string {
  return type.length === 0 ? "never" : type.join(" | ");
}
