import { isBinding, type Tree, UnsupportedSource } from "./tree.js";

/**
 * Throws if a variable is used where nothing in the tree declares it: a recursive function that was
 * put where it is called, or a function that is declared after a `return`. The text would not show
 * what the name stands for.
 *
 * @throws {UnsupportedSource}
 */
export function assertBound(one: Tree, bound: ReadonlySet<string> = new Set()): void {
  const { op, name, args } = one;
  if (op === "name" && isBinding(name) && !bound.has(name))
    throw new UnsupportedSource("it uses a name before or outside of its declaration");
  const inner = new Set([...bound, ...declaredBy(one)]);
  for (const part of args) assertBound(part, inner);
}

/** Returns the bindings that exist in all parts of a tree. */
function declaredBy({ op, name, args }: Tree): string[] {
  switch (op) {
    case "function":
      return args.slice(0, -1).flatMap(namesOfTarget);
    case "let":
      return namesOfTarget(args[0]!);
    case "block":
      return args.flatMap((one) => (one.op === "declare" ? namesOfTarget(one.args[0]!) : []));
    case "loop":
      return name === "for" ? declaredBy(args[0]!) : name === "do" ? [] : namesOfTarget(args[0]!);
    default:
      return [];
  }
}

function namesOfTarget({ op, name, args }: Tree): string[] {
  switch (op) {
    case "name":
      return [name];
    case "default":
      return namesOfTarget(args[0]!);
    case "field":
      return namesOfTarget(args[1]!);
    case "rest":
    case "items":
    case "fields":
      return args.flatMap(namesOfTarget);
    default:
      return [];
  }
}
