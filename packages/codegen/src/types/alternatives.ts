/** A type as a list of distinct union members, each as text. `never` has none. */
export type Alternatives = readonly string[];

/** `any` and `unknown` absorb all other members, and primitive types their literals. */
export function unionOf(...types: readonly Alternatives[]): Alternatives {
  const members = new Set(types.flat());
  if (members.has("any")) return ["any"];
  if (members.has("unknown")) return ["unknown"];
  return [...members].filter((member) => {
    const kind = literalKind(member);
    return kind === undefined || !members.has(kind);
  });
}

/** True if the type accepts every value. */
export function isOpenType(type: Alternatives): boolean {
  return type.includes("any") || type.includes("unknown");
}

function literalKind(member: string): string | undefined {
  if (/^"(?:[^"\\]|\\.)*"$/.test(member)) return "string";
  if (/^-?\d[\d.]*(e[+-]?\d+)?$/.test(member)) return "number";
  if (/^-?\d+n$/.test(member)) return "bigint";
  return member === "true" || member === "false" ? "boolean" : undefined;
}

/** Returns a type without one of its union members. */
export function withoutMember(type: Alternatives, member: string): Alternatives {
  return type.filter((alternative) => alternative !== member);
}

/** Returns a type as text. The caller adds parentheses if the context needs them. */
export function textOf(type: Alternatives): string {
  return type.length === 0 ? "never" : type.join(" | ");
}

/** Longer types are written as references to the field of the row. */
export function isRepeatable(type: string): boolean {
  return type.length <= 40;
}
