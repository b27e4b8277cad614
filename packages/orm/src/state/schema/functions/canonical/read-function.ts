import {
  type ArrowFunctionExpression,
  type Expression,
  type FunctionDeclaration,
  type FunctionExpression,
  type MemberExpression,
  type ObjectExpression,
  type ObjectPattern,
  type Pattern,
  type Property,
  parse,
  type SpreadElement,
  type Super,
} from "acorn";
import { hasChanges } from "./has-changes.js";
import { type Readers, readBody } from "./read-body.js";
import { constant, nameOf, type Tree, tree, unsupported } from "./tree.js";
import { declaredNames, Scope } from "./variable-scope.js";

const readers: Readers = {
  expression: readExpression,
  pattern: readPattern,
  function: readFunction,
};

type AnyFunction = ArrowFunctionExpression | FunctionExpression | FunctionDeclaration;

export interface ParsedSource {
  readonly root: Tree;
  /** True if a part of the function changes a variable or an object: see {@link hasChanges}. */
  readonly hasChanges: boolean;
}

/** Parses the source of a function: an arrow function, a function, or a method of an object. */
export function readSource(source: string): ParsedSource {
  // In scripts, but not in modules, these begin comments.
  if (/<!--|^\s*-->/m.test(source)) throw unsupported("a comment of HTML");
  const options = { ecmaVersion: "latest", sourceType: "script" } as const;
  const text = /^[\w$"'[]+\s*\(/.test(source) && !/^function\b/.test(source);
  const parsed = parse(text ? `({${source}\n})` : `(${source}\n)`, options);
  const [statement] = parsed.body;
  if (statement?.type !== "ExpressionStatement") throw unsupported("statement");
  const { expression } = statement;
  const [member] = expression.type === "ObjectExpression" ? expression.properties : [];
  const value = member?.type === "Property" ? member.value : expression;
  if (value.type !== "ArrowFunctionExpression" && value.type !== "FunctionExpression")
    throw unsupported(value.type);
  const changes = hasChanges(value);
  return { root: readFunction(value, new Scope(changes)), hasChanges: changes };
}

function readFunction(fn: AnyFunction, outer: Scope): Tree {
  if (fn.async || fn.generator) throw unsupported("async");
  const scope = outer.inner(declaredNames(fn));
  const parameters = fn.params.map((parameter) => readPattern(parameter, scope));
  const body =
    fn.body.type === "BlockStatement"
      ? readBody(fn.body, scope, readers)
      : readExpression(fn.body, scope);
  return tree("function", [...parameters, body]);
}

function readPattern(pattern: Pattern, scope: Scope): Tree {
  switch (pattern.type) {
    case "Identifier":
      return nameOf(scope.resolve(pattern.name));
    case "AssignmentPattern":
      return tree("default", [
        readPattern(pattern.left, scope),
        readExpression(pattern.right, scope),
      ]);
    case "RestElement":
      return tree("rest", [readPattern(pattern.argument, scope)]);
    case "ArrayPattern":
      return tree(
        "items",
        pattern.elements.map((one) => (one === null ? tree("hole") : readPattern(one, scope))),
      );
    case "ObjectPattern":
      return tree("fields", readFields(pattern, scope));
    case "MemberExpression":
      return readMember(pattern, scope);
    default:
      throw unsupported("a pattern");
  }
}

function readFields({ properties }: ObjectPattern, scope: Scope): Tree[] {
  return properties.map((one) =>
    one.type === "RestElement"
      ? readPattern(one, scope)
      : tree("field", [readKey(one, scope), readPattern(one.value, scope)]),
  );
}

function readKey({ key, computed }: Pick<Property, "key" | "computed">, scope: Scope): Tree {
  if (computed) return tree("computed", [readExpression(key, scope)]);
  const name = key.type === "Identifier" ? key.name : key.type === "Literal" && key.value;
  // `{ __proto__: x }` has no such property, but `{ __proto__ }` has.
  if (name === "__proto__") throw unsupported(name);
  if (key.type === "Identifier") return constant(key.name);
  if (key.type === "Literal") return constant(String(key.value));
  throw unsupported(key.type);
}

function readObject({ properties }: ObjectExpression, scope: Scope): Tree {
  const members = properties.map((one) => {
    if (one.type === "SpreadElement") return readSpread(one, scope);
    if (one.kind !== "init") throw unsupported(one.kind);
    return tree("field", [readKey(one, scope), readExpression(one.value, scope)]);
  });
  return tree("object", members);
}

function readSpread({ argument }: SpreadElement, scope: Scope): Tree {
  return tree("spread", [readExpression(argument, scope)]);
}

const readArgument = (one: Expression | SpreadElement, scope: Scope) =>
  one.type === "SpreadElement" ? readSpread(one, scope) : readExpression(one, scope);

/** Values that a minifier prints as `1 / 0`, `0 / 0` and `void 0`. */
const globalValues: ReadonlyMap<string, number | undefined> = new Map([
  ["undefined", undefined],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
]);

function readExpression(node: Expression | Super, scope: Scope): Tree {
  const read = (one: Expression | Super) => readExpression(one, scope);
  switch (node.type) {
    case "Identifier": {
      const name = scope.resolve(node.name);
      return globalValues.has(name) ? constant(globalValues.get(name)) : nameOf(name);
    }
    case "Literal":
      if (node.regex) return tree("regexp", [], `/${node.regex.pattern}/${node.regex.flags}`);
      if (typeof node.value === "object" && node.value !== null) throw unsupported("a literal");
      return constant(node.value);
    case "TemplateLiteral": {
      const parts = node.quasis.flatMap(({ value: { cooked } }, i) => {
        const expression = node.expressions[i];
        return [constant(cooked ?? ""), ...(expression ? [read(expression)] : [])];
      });
      return tree("template", parts);
    }
    case "ParenthesizedExpression":
      return read(node.expression);
    case "UnaryExpression":
      return tree("unary", [read(node.argument)], node.operator);
    case "UpdateExpression":
      return tree(
        "update",
        [read(node.argument)],
        `${node.prefix ? "prefix" : ""}${node.operator}`,
      );
    case "BinaryExpression":
      if (node.left.type === "PrivateIdentifier") throw unsupported(node.left.type);
      return tree("binary", [read(node.left), read(node.right)], node.operator);
    case "LogicalExpression":
      return tree("logical", [read(node.left), read(node.right)], node.operator);
    case "AssignmentExpression":
      return tree("assign", [readPattern(node.left, scope), read(node.right)], node.operator);
    case "ConditionalExpression":
      return tree("cond", [read(node.test), read(node.consequent), read(node.alternate)]);
    case "ArrayExpression":
      return tree(
        "array",
        node.elements.map((one) => (one === null ? tree("hole") : readArgument(one, scope))),
      );
    case "ObjectExpression":
      return readObject(node, scope);
    case "SequenceExpression":
      return tree("sequence", node.expressions.map(read));
    case "MemberExpression":
      return readMember(node, scope);
    case "ChainExpression":
      return tree("chain", [read(node.expression)]);
    case "CallExpression": {
      const wrapped = wrappedFunction(node.callee, node.arguments);
      if (wrapped !== undefined) return read(wrapped);
      const args = node.arguments.map((one) => readArgument(one, scope));
      return tree(node.optional ? "call?" : "call", [readCallee(node.callee, scope), ...args]);
    }
    case "NewExpression":
      return tree("new", [
        read(node.callee),
        ...node.arguments.map((one) => readArgument(one, scope)),
      ]);
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return readFunction(node, scope);
    default:
      throw unsupported(node.type);
  }
}

/** esbuild wraps functions to keep their names: `__name((value) => …, "lower")`. */
function wrappedFunction(
  callee: Expression | Super,
  [fn]: readonly (Expression | SpreadElement)[],
): Expression | undefined {
  if (callee.type !== "Identifier" || callee.name !== "__name") return undefined;
  return fn?.type === "ArrowFunctionExpression" || fn?.type === "FunctionExpression"
    ? fn
    : undefined;
}

/** Loaders print a call of an imported function as `(0, _module.lower)(value)`. */
function readCallee(callee: Expression | Super, scope: Scope): Tree {
  if (callee.type === "SequenceExpression" && callee.expressions.length === 2) {
    const [zero, member] = callee.expressions;
    if (zero?.type === "Literal" && member?.type === "MemberExpression") {
      const read = readMember(member, scope);
      if (read.op === "name") return read;
    }
  }
  return readExpression(callee, scope);
}

/** The names that loaders give to imported modules. */
const moduleName = /^(?:_\w+|import_\w+|\w+_\d{1,2}|__vite_ssr_import_\d+__)$/;

function readMember(node: MemberExpression, scope: Scope): Tree {
  const { object, property, computed, optional } = node;
  if (property.type === "PrivateIdentifier") throw unsupported(property.type);
  if (!computed && property.type !== "Identifier") throw unsupported(property.type);
  if (!computed && property.type === "Identifier" && object.type === "Identifier") {
    const isImport = moduleName.test(object.name) && scope.resolve(object.name) === object.name;
    if (isImport && property.name !== "default") return nameOf(property.name);
  }
  const of = readExpression(object, scope);
  if (computed) return tree(optional ? "index?" : "index", [of, readExpression(property, scope)]);
  return tree(optional ? "member?" : "member", [of], (property as { name: string }).name);
}
