/** A primitive value that a source contains as it is. */
export type Constant = string | number | bigint | boolean | null | undefined;

/**
 * A part of a function's source. The operation is one of this module, not a type of a parser, so
 * that parts that mean the same have one form.
 */
export interface Tree {
  readonly op: string;
  /** A name, an operator or a property. */
  readonly name: string;
  readonly value: Constant;
  readonly args: readonly Tree[];
}

export function tree(op: string, args: readonly Tree[] = [], name = ""): Tree {
  return { op, name, value: undefined, args };
}

export function constant(value: Constant): Tree {
  return { op: "constant", name: "", value, args: [] };
}

export function nameOf(name: string): Tree {
  return tree("name", [], name);
}

export function isConstant(one: Tree): boolean {
  return one.op === "constant";
}

/** A source that has no canonical form, because it uses rare syntax or is too large. */
export class UnsupportedSource extends Error {}

export function unsupported(type: string): UnsupportedSource {
  return new UnsupportedSource(`it contains ${type}`);
}

/** Returns how often a name occurs in a tree. */
export function countUses(one: Tree, name: string): number {
  if (one.op === "name") return one.name === name ? 1 : 0;
  return one.args.reduce((sum, part) => sum + countUses(part, name), 0);
}

/** Replaces a name. Each binding has a name of its own, so that no other one can capture it. */
export function substitute(one: Tree, name: string, by: Tree): Tree {
  if (one.op === "name") return one.name === name ? by : one;
  return { ...one, args: one.args.map((part) => substitute(part, name, by)) };
}

export function contains(one: Tree, ops: ReadonlySet<string>): boolean {
  return ops.has(one.op) || one.args.some((part) => contains(part, ops));
}

export function isSame(a: Tree, b: Tree): boolean {
  return (
    a.op === b.op &&
    a.name === b.name &&
    Object.is(a.value, b.value) &&
    a.args.length === b.args.length &&
    a.args.every((part, i) => isSame(part, b.args[i]!))
  );
}
