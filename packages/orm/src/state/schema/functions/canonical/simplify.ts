import type { ParsedSource } from "./read-function.js";
import {
  constant,
  contains,
  countUses,
  isConstant,
  isSame,
  substitute,
  type Tree,
  tree,
  UnsupportedSource,
} from "./tree.js";

/**
 * Returns a tree in which expressions that compilers and minifiers replace by each other have one
 * form. Index functions are pure by contract, so the order in which parts are evaluated, and
 * whether a part without effect is evaluated, do not matter.
 */
export function simplify({ root, hasChanges }: ParsedSource): Tree {
  let steps = 0;
  const visit = (one: Tree): Tree => {
    if (++steps > 5000) throw new UnsupportedSource("it is too large");
    return simplified({ ...one, args: one.args.map(visit) }, hasChanges);
  };
  return visit(root);
}

function simplified(one: Tree, hasChanges: boolean): Tree {
  const [first, second, third] = one.args;
  switch (one.op) {
    case "unary":
      return unary(one, first!);
    case "binary":
      return binary(one.name, first!, second!);
    case "logical":
      return logical(one.name, first!, second!);
    case "cond":
      return conditional(first!, second!, third!);
    case "template":
      return template(one);
    case "call":
      return hasChanges ? one : call(one, first!);
    case "index":
      return isConstant(second!) && isIdentifier(second!.value)
        ? tree("member", [first!], second!.value)
        : one;
    default:
      return one;
  }
}

function isIdentifier(value: unknown): value is string {
  return typeof value === "string" && /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(value);
}

function unary(one: Tree, operand: Tree): Tree {
  const { name } = one;
  if (name === "!") return negation(operand);
  if (!isConstant(operand)) return one;
  const { value } = operand;
  if (name === "void") return constant(undefined);
  if (name === "-" && (typeof value === "number" || typeof value === "bigint"))
    return constant(-value);
  return name === "+" && typeof value === "number" ? operand : one;
}

const opposites: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
};

/** Returns `!operand`. */
function negation(operand: Tree): Tree {
  return conditional(operand, constant(false), constant(true));
}

const comparisons = new Set([...Object.keys(opposites), "<", ">", "<=", ">=", "in", "instanceof"]);

function isBoolean({ op, name, value, args }: Tree): boolean {
  if (op === "constant") return typeof value === "boolean";
  if (op === "unary") return name === "!";
  if (op === "binary") return comparisons.has(name);
  if (op === "cond") return args.slice(1).every(isBoolean);
  return op === "logical" && args.every(isBoolean);
}

const flipped: Readonly<Record<string, string>> = {
  "===": "===",
  "!==": "!==",
  "==": "==",
  "!=": "!=",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
};

function binary(operator: string, left: Tree, right: Tree): Tree {
  if (isConstant(left) && isConstant(right)) {
    const folded = fold(operator, left.value, right.value);
    if (folded !== undefined) return constant(folded);
  }
  const flippedOperator = flipped[operator];
  if (flippedOperator !== undefined && isConstant(left) && !isConstant(right))
    return binary(flippedOperator, right, left);
  if (operator === "*" && isConstant(left)) return tree("binary", [right, left], operator);
  if ((operator === "==" || operator === "!=") && isConstant(right)) {
    if (right.value === undefined) return binary(operator, left, constant(null));
    const isText = left.op === "unary" && left.name === "typeof";
    if (isText && typeof right.value === "string") return binary(`${operator}=`, left, right);
  }
  return tree("binary", [left, right], operator);
}

function fold(operator: string, a: Tree["value"], b: Tree["value"]): number | string | undefined {
  if (typeof a === "string" && typeof b === "string") return operator === "+" ? a + b : undefined;
  if (typeof a !== "number" || typeof b !== "number") return undefined;
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
    case "**":
      return a ** b;
    default:
      return undefined;
  }
}

function logical(operator: string, left: Tree, right: Tree): Tree {
  if (operator === "&&" && isBoolean(left)) return conditional(left, right, constant(false));
  if (operator === "||" && isBoolean(left)) return conditional(left, constant(true), right);
  return tree("logical", [left, right], operator);
}

/** Returns `test ? yes : no`, as a tree of decisions whose tests are not negated. */
function conditional(test: Tree, yes: Tree, no: Tree): Tree {
  const [first, second, third] = test.args;
  if (isConstant(test)) return test.value ? yes : no;
  if (test.op === "unary" && test.name === "!") return conditional(first!, no, yes);
  if (test.op === "logical" && test.name === "&&")
    return conditional(first!, conditional(second!, yes, no), no);
  if (test.op === "logical" && test.name === "||")
    return conditional(first!, yes, conditional(second!, yes, no));
  if (test.op === "cond")
    return conditional(first!, conditional(second!, yes, no), conditional(third!, yes, no));
  if (test.op === "binary" && (test.name === "!==" || test.name === "!=")) {
    const isLeaf = isConstant(yes) && yes.value === true && isConstant(no) && no.value === false;
    if (isLeaf) return test;
    return conditional({ ...test, name: opposites[test.name]! }, no, yes);
  }
  if (isSame(yes, no) && isRepeatable(test)) return yes;
  return decision(test, yes, no);
}

function decision(test: Tree, yes: Tree, no: Tree): Tree {
  const nullish = asNullish(test, yes, no);
  if (nullish !== undefined) return nullish;
  const [a, b] = [isConstant(yes) ? yes.value : 0, isConstant(no) ? no.value : 0];
  if (a === true && b === false)
    return isBoolean(test) ? test : tree("unary", [tree("unary", [test], "!")], "!");
  if (a === false && b === true) {
    const opposite = test.op === "binary" ? opposites[test.name] : undefined;
    return opposite === undefined
      ? tree("unary", [test], "!")
      : tree("binary", test.args, opposite);
  }
  if (!isRepeatable(test)) return tree("cond", [test, yes, no]);
  if (isSame(test, yes)) return logical("||", test, no);
  if (isSame(test, no)) return logical("&&", test, yes);
  const [subject, none] = test.args;
  if (test.name === "==" && isNull(none) && subject && isSame(subject, no))
    return tree("logical", [subject, yes], "??");
  return tree("cond", [test, yes, no]);
}

/** Parts that may have another value or effect each time. Compilers do not merge two of them. */
const unrepeatable = new Set(["call", "call?", "new", "assign", "update"]);

function isRepeatable(one: Tree): boolean {
  return !contains(one, unrepeatable);
}

function isNull(one: Tree | undefined): boolean {
  return one !== undefined && isConstant(one) && one.value === null;
}

/**
 * Returns a decision by `x == null`, if a decision by `x === null` is followed by one by `x ===
 * undefined` with the same result, or the other way round.
 */
function asNullish(test: Tree, yes: Tree, no: Tree): Tree | undefined {
  const absent = absentTest(test, "===");
  if (absent === undefined || !isRepeatable(absent.subject)) return undefined;
  const other = absent.value === null ? undefined : null;
  const isOther = (one: Tree | undefined, operator: string) => {
    const found = one && absentTest(one, operator);
    return found !== undefined && found.value === other && isSame(found.subject, absent.subject);
  };
  const isNone = (operator: string) => tree("binary", [absent.subject, constant(null)], operator);
  if (isConstant(yes) && yes.value === true && isOther(no, "===")) return isNone("==");
  if (isConstant(yes) && yes.value === false && isOther(no, "!==")) return isNone("!=");
  const [next, nextYes, nextNo] = no.args;
  if (no.op === "cond" && isOther(next, "===") && nextYes && nextNo && isSame(nextYes, yes))
    return decision(isNone("=="), yes, nextNo);
  return undefined;
}

/** Returns the operand and the value of `operand === null` or `operand === undefined`. */
function absentTest(
  { op, name, args: [subject, right] }: Tree,
  operator: string,
): { readonly subject: Tree; readonly value: null | undefined } | undefined {
  if (op !== "binary" || name !== operator || subject === undefined || right === undefined)
    return undefined;
  const { value } = right;
  return isConstant(right) && (value === null || value === undefined)
    ? { subject, value }
    : undefined;
}

/** Replaces a call of a function that stands in the same place by its result. */
function call(one: Tree, callee: Tree): Tree {
  if (callee.op !== "function" || callee.args.length !== one.args.length) return one;
  const parameters = callee.args.slice(0, -1);
  let body = callee.args.at(-1)!;
  if (body.op === "block") return one;
  for (const [i, { op, name }] of parameters.entries()) {
    const value = one.args[i + 1]!;
    const isSimple = isConstant(value) || value.op === "name";
    if (op !== "name" || (!isSimple && countUses(body, name) > 1)) return one;
    body = substitute(body, name, value);
  }
  return body;
}

function template({ args }: Tree): Tree {
  const parts: Tree[] = [];
  for (const part of args) {
    const last = parts.at(-1);
    if (!isConstant(part)) parts.push(part);
    else if (last !== undefined && isConstant(last))
      parts[parts.length - 1] = constant(`${last.value}${part.value}`);
    else parts.push(constant(String(part.value)));
  }
  const filled = parts.filter((part) => !isConstant(part) || part.value !== "");
  const [only = constant("")] = filled;
  return filled.length <= 1 && isConstant(only) ? only : tree("template", filled);
}
