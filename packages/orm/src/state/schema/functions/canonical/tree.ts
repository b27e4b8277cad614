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

/** These evaluate their parts from the first to the last, and the first one in any case. */
const inOrder = new Set([
  ...["member", "index", "call", "member?", "index?", "call?", "chain", "new", "throw"],
  ...["unary", "binary", "logical", "cond", "template", "array", "spread", "sequence"],
]);

/** True if an expression reads a variable before it does anything else. */
export function readsFirst(one: Tree, name: string): boolean {
  if (one.op === "name") return one.name === name;
  if (one.op === "let") return readsFirst(one.args[1]!, name);
  if (!inOrder.has(one.op)) return false;
  const first = one.args.find((part) => !isConstant(part) && !isFree(part));
  // Only these evaluate all parts.
  const isCertain =
    first === one.args[0] || !["logical", "cond", "call?", "index?"].includes(one.op);
  return first !== undefined && isCertain && readsFirst(first, name);
}

function isFree({ op, name }: Tree): boolean {
  return op === "name" && !isBinding(name);
}

/** True for the name of a parameter or a variable, which stands for its binding. */
export function isBinding(name: string): boolean {
  return name.startsWith("%");
}
