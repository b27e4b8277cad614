/**
 * A type as a list of union members, each as text, without duplicates. Most types have one member.
 * `never` has none.
 */
export type Alternatives = readonly string[];

/**
 * Returns the union of types. `any` and `unknown` absorb all other members. `string` and the other
 * primitive types absorb their literals.
 */
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

/**
 * True if a type is short enough to be repeated in generated code. A longer type is written as a
 * reference to the field of the row.
 */
export function isRepeatable(type: string): boolean {
  return type.length <= 40;
}
