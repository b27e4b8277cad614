import type { AnyNode, MemberExpression } from "acorn";

/** Methods of arrays, maps, sets, dates and iterators that change their object. */
const changing =
  /^(?:push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|add|delete|clear|next|assign|defineProperty|defineProperties|deleteProperty|setPrototypeOf|set(?:[A-Z]\w*)?)$/;

/** Methods whose result is an iterator, which can be read once. Those of `Object` return arrays. */
const iterating = /^(?:keys|values|entries|matchAll|iterator)$/;

/**
 * True if a part of a function changes a variable or an object. What it returns then depends on the
 * order in which its parts are evaluated, and how often.
 */
export function hasChanges(node: AnyNode): boolean {
  if (node.type === "AssignmentExpression" || node.type === "UpdateExpression") return true;
  if (node.type === "UnaryExpression" && node.operator === "delete") return true;
  // An expression with one of these flags keeps where it has stopped.
  if (node.type === "Literal" && node.regex && /[gy]/.test(node.regex.flags)) return true;
  if (node.type === "NewExpression" && isNamed(node.callee, "RegExp")) return true;
  if (node.type === "MemberExpression" && isChanging(node)) return true;
  const isLoop = node.type === "ForOfStatement" || node.type === "ForInStatement";
  if (isLoop && node.left.type !== "VariableDeclaration") return true;
  return Object.values(node)
    .flat()
    .some((part) => isNode(part) && hasChanges(part));
}

function isChanging({ object, property, computed }: MemberExpression): boolean {
  const isName = property.type === "Identifier" && !computed;
  const name = isName ? property.name : property.type === "Literal" ? String(property.value) : "";
  return changing.test(name) || (iterating.test(name) && !isNamed(object, "Object"));
}

function isNamed(node: AnyNode, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value;
}

/**
 * True if a loop declares variables with `var` that differ there from those with `let` and `const`:
 * all rounds of the loop share them.
 */
export function sharesVariables(loop: AnyNode): boolean {
  const variables = partsOf(loop, ({ type }) => type === "VariableDeclaration");
  const shared = variables.flatMap((one) =>
    one.type === "VariableDeclaration" && one.kind === "var" ? one.declarations : [],
  );
  const heads = loop.type === "ForOfStatement" || loop.type === "ForInStatement" ? [loop.left] : [];
  const isEmpty = shared.some(
    (one) => !one.init && !heads.some((head) => partsOf(head, (part) => part === one).length > 0),
  );
  return isEmpty || (shared.length > 0 && partsOf(loop, isFunction).length > 0);
}

function isFunction({ type }: AnyNode): boolean {
  return /Function/.test(type);
}

/** Returns the parts of a node that match, without those in functions. */
function partsOf(node: AnyNode, matches: (part: AnyNode) => boolean): AnyNode[] {
  const own = matches(node) ? [node] : [];
  if (isFunction(node)) return own;
  const parts = Object.values(node).flat().filter(isNode);
  return [...own, ...parts.flatMap((part) => partsOf(part, matches))];
}
