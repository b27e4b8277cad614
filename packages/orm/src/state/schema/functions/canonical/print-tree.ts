import { isBinding, type Tree, UnsupportedSource } from "./tree.js";

const maxLength = 20_000;
const letters = "abcdefghijklmnopqrstuvwxyz";

/** Prints a tree as a text that is the same for all names of parameters and variables. */
export function printTree(root: Tree): string {
  assertBound(root);
  const free = freeNames(root);
  for (const name of free)
    if (operations.has(name)) throw new UnsupportedSource(`it uses the name ${name}`);
  const names = new Map<string, string>();
  const nameFor = (binding: string): string => {
    let name = names.get(binding);
    for (let i = names.size; name === undefined; i++) {
      const suffix = i < letters.length ? "" : String(Math.floor(i / letters.length));
      const candidate = `${letters[i % letters.length]}${suffix}`;
      if (!free.has(candidate) && ![...names.values()].includes(candidate)) name = candidate;
    }
    names.set(binding, name);
    return name;
  };
  let length = 0;
  const print = (one: Tree): string => {
    const text = textOf(one, print, nameFor);
    length += text.length;
    if (length > maxLength) throw new UnsupportedSource("it is too large");
    return text;
  };
  return print(root);
}

/** The notations of rare parts, which calls of functions with such names must not look like. */
const operations = new Set([
  ...["let", "object", "field", "fields", "computed", "items", "rest", "hole", "spread"],
  ...["sequence", "block", "declare", "expression", "none"],
]);

function freeNames(one: Tree): Set<string> {
  if (one.op === "name" && !isBinding(one.name)) return new Set([one.name]);
  return new Set(one.args.flatMap((part) => [...freeNames(part)]));
}

/** These need no parentheses as operands. */
const simple = new Set([
  ...["name", "constant", "regexp", "array", "template"],
  ...["member", "index", "call", "member?", "index?", "call?"],
]);

function textOf(
  one: Tree,
  print: (one: Tree) => string,
  nameFor: (name: string) => string,
): string {
  const { op, name, value, args } = one;
  const all = () => args.map(print).join(", ");
  const operand = (part: Tree) => (simple.has(part.op) ? print(part) : `(${print(part)})`);
  const [first, second, third] = args;
  const base = () => {
    const text = operand(first!);
    return text.startsWith("-") ? `(${text})` : text;
  };
  switch (op) {
    case "name":
      return isBinding(name) ? nameFor(name) : name;
    case "constant":
      return constantText(value);
    case "regexp":
      return name;
    case "member":
    case "member?":
      return `${base()}${op === "member" ? "" : "?"}.${name}`;
    case "index":
    case "index?":
      return `${base()}${op === "index" ? "" : "?."}[${print(second!)}]`;
    case "call":
    case "call?":
      return `${base()}${op === "call" ? "" : "?."}(${args.slice(1).map(print).join(", ")})`;
    case "chain":
      return print(first!);
    case "unary":
      return `${name}${/^\w/.test(name) ? " " : ""}${operand(first!)}`;
    case "binary":
    case "logical":
      return `${operand(first!)} ${name} ${operand(second!)}`;
    case "cond":
      return `${operand(first!)} ? ${operand(second!)} : ${operand(third!)}`;
    case "array":
      return `[${all()}]`;
    case "template":
      return `\`${args.map((part) => `\${${print(part)}}`).join("")}\``;
    case "function": {
      const parameters = args.slice(0, -1).map(print);
      const isPlain = parameters.length === 1 && args[0]?.op === "name";
      return `${isPlain ? parameters[0] : `(${parameters.join(", ")})`} => ${print(args.at(-1)!)}`;
    }
    default:
      // Rare parts have one notation for all.
      return `${op}${name === "" ? "" : `<${name}>`}(${all()})`;
  }
}

function constantText(value: Tree["value"]): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  return Object.is(value, -0) ? "-0" : String(value);
}

/**
 * Throws if a variable is used where nothing in the tree declares it: a recursive function that was
 * put where it is called, or a function that is declared after a `return`. The text would not show
 * what the name stands for.
 *
 * @throws {UnsupportedSource}
 */
function assertBound(one: Tree, bound: ReadonlySet<string> = new Set()): void {
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
