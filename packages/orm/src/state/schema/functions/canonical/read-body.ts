import type {
  BlockStatement,
  DoWhileStatement,
  Expression,
  ForInStatement,
  ForOfStatement,
  ForStatement,
  FunctionDeclaration,
  Pattern,
  Statement,
  VariableDeclaration,
  VariableDeclarator,
  WhileStatement,
} from "acorn";
import { sharesVariables } from "./has-changes.js";
import {
  constant,
  contains,
  countUses,
  isConstant,
  nameOf,
  readsFirst,
  substitute,
  type Tree,
  tree,
  unsupported,
} from "./tree.js";
import { namesOfBlock, namesOfInnerBlocks, type Scope } from "./variable-scope.js";

/** Reads the parts of statements, which contain functions again. */
export interface Readers {
  readonly expression: (node: Expression, scope: Scope) => Tree;
  readonly pattern: (node: Pattern, scope: Scope) => Tree;
  readonly function: (node: FunctionDeclaration, scope: Scope) => Tree;
}

/** Parts whose order matters. A body with one of them stays a list of statements. */
const effects = new Set(["assign", "update", "loop", "expression", "jump"]);

/** Returns a body as one expression if it only declares constants, decides and returns. */
export function readBody({ body }: BlockStatement, outer: Scope, readers: Readers): Tree {
  const scope = outer.outside(namesOfInnerBlocks(body));
  // Functions exist before the statements in front of them.
  const isFunction = ({ type }: Statement) => type === "FunctionDeclaration";
  const inOrder = [...body.filter(isFunction), ...body.filter((one) => !isFunction(one))];
  const statements = inOrder.flatMap((one) => readStatement(one, scope, readers));
  return statements.some((one) => contains(one, effects))
    ? tree("block", statements)
    : expressionOf(statements, scope);
}

function expressionOf([first, ...rest]: readonly Tree[], scope: Scope): Tree {
  if (first === undefined) return constant(undefined);
  const [one, two, three] = first.args;
  switch (first.op) {
    case "return":
      return one!;
    case "throw":
      return first;
    case "block":
      return expressionOf([...first.args, ...rest], scope);
    case "if": {
      const no = three === undefined ? rest : [three, ...rest];
      return tree("cond", [one!, expressionOf([two!, ...rest], scope), expressionOf(no, scope)]);
    }
    default:
      return withVariable(one!, two ?? constant(undefined), expressionOf(rest, scope), scope);
  }
}

/**
 * Returns an expression in which a constant is replaced by its value, unless it is used again. In a
 * function that changes variables or objects, the value is not moved past other parts.
 */
function withVariable(target: Tree, value: Tree, body: Tree, { hasChanges }: Scope): Tree {
  if (target.op !== "name") return tree("let", [target, value, body]);
  const { name } = target;
  const uses = countUses(body, name);
  const isShort = isConstant(value) || (value.op === "name" && !hasChanges);
  const canMove = !hasChanges || (uses === 1 && readsFirst(body, name));
  if (isShort || (uses < 2 && canMove)) return substitute(body, name, value);
  return tree("let", [target, value, body]);
}

function readStatement(node: Statement, scope: Scope, readers: Readers): Tree[] {
  const block = (one: Statement, around = scope) => {
    const statements = one.type === "BlockStatement" ? one.body : [one];
    const inner = around.within(namesOfBlock(statements));
    return tree(
      "block",
      statements.flatMap((each) => readStatement(each, inner, readers)),
    );
  };
  const read = (one: Expression) => readers.expression(one, scope);
  switch (node.type) {
    case "EmptyStatement":
      return [];
    case "BlockStatement":
      return [block(node)];
    case "ExpressionStatement":
      return node.directive === undefined ? [tree("expression", [read(node.expression)])] : [];
    case "ReturnStatement":
      return [tree("return", [node.argument ? read(node.argument) : constant(undefined)])];
    case "ThrowStatement":
      return [tree("throw", [read(node.argument)])];
    case "IfStatement": {
      const no = node.alternate ? [block(node.alternate)] : [];
      return [tree("if", [read(node.test), block(node.consequent), ...no])];
    }
    case "VariableDeclaration":
      return node.declarations.flatMap((one) => readDeclaration(one, scope, readers));
    case "FunctionDeclaration":
      return [
        tree("declare", [nameOf(scope.resolve(node.id.name)), readers.function(node, scope)]),
      ];
    case "ForOfStatement":
    case "ForInStatement":
    case "ForStatement":
    case "WhileStatement":
    case "DoWhileStatement":
      return [readLoop(node, scope, readers, block)];
    case "BreakStatement":
    case "ContinueStatement":
      if (node.label) throw unsupported("a label");
      return [tree("jump", [], node.type)];
    default:
      throw unsupported(node.type);
  }
}

type Loop = ForOfStatement | ForInStatement | ForStatement | WhileStatement | DoWhileStatement;

function readLoop(
  node: Loop,
  outer: Scope,
  readers: Readers,
  block: (one: Statement, scope: Scope) => Tree,
): Tree {
  if (sharesVariables(node)) throw unsupported("a variable of several rounds of a loop");
  const head = "left" in node ? node.left : "init" in node ? node.init : undefined;
  const scope = head?.type === "VariableDeclaration" ? outer.within(namesOfBlock([head])) : outer;
  const read = (one: Expression) => readers.expression(one, scope);
  const body = block(node.body, scope);
  switch (node.type) {
    case "ForOfStatement":
    case "ForInStatement": {
      if (node.type === "ForOfStatement" && node.await) throw unsupported("await");
      const left = node.left.type === "VariableDeclaration" ? onlyTarget(node.left) : node.left;
      const parts = [readers.pattern(left, scope), readers.expression(node.right, outer), body];
      return tree("loop", parts, node.type === "ForOfStatement" ? "of" : "in");
    }
    case "ForStatement": {
      const { init, test, update } = node;
      const begin =
        init?.type === "VariableDeclaration"
          ? readStatement(init, scope, readers)
          : init
            ? [tree("expression", [read(init)])]
            : [];
      const parts = [test, update].map((one) => (one ? read(one) : tree("none")));
      return tree("loop", [tree("block", begin), ...parts, body], "for");
    }
    case "WhileStatement":
      return tree("loop", [tree("block"), read(node.test), tree("none"), body], "for");
    case "DoWhileStatement":
      return tree("loop", [read(node.test), body], "do");
  }
}

function onlyTarget({ declarations }: VariableDeclaration): VariableDeclarator["id"] {
  return declarations[0]!.id;
}

/** `const { email } = user` declares the same as `const email = user.email`. */
function readDeclaration({ id, init }: VariableDeclarator, scope: Scope, readers: Readers): Tree[] {
  const value = init ? readers.expression(init, scope) : undefined;
  const target = readers.pattern(id, scope);
  const isPlain = target.args.every(
    ({ op, args: [key, name] }) => op === "field" && key && isConstant(key) && name?.op === "name",
  );
  if (value?.op !== "name" || target.op !== "fields" || !isPlain)
    return [tree("declare", value === undefined ? [target] : [target, value])];
  return target.args.map(({ args: [key, name] }) =>
    tree("declare", [name!, tree("index", [value, key!])]),
  );
}
