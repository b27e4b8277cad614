import type {
  ArrowFunctionExpression,
  FunctionDeclaration,
  FunctionExpression,
  Pattern,
  Statement,
  VariableDeclaration,
} from "acorn";
import { UnsupportedSource } from "./tree.js";

/** The names that a function and those around it declare, each with a name of its own. */
export class Scope {
  readonly #names: ReadonlyMap<string, string>;
  /** Counts the names of all scopes of a source. */
  readonly #counter: { count: number };

  constructor(names: ReadonlyMap<string, string> = new Map(), counter = { count: 0 }) {
    this.#names = names;
    this.#counter = counter;
  }

  inner(declared: readonly string[]): Scope {
    const names = new Map(this.#names);
    for (const name of declared) names.set(name, `%${this.#counter.count++}`);
    return new Scope(names, this.#counter);
  }

  /** Returns the unique name of a declared one. A free name stays as it is. */
  resolve(name: string): string {
    if (name === "arguments") throw new UnsupportedSource("it uses arguments");
    return this.#names.get(name) ?? name;
  }
}

/**
 * Returns the names that a function declares: parameters, variables, its own name.
 *
 * @throws {UnsupportedSource} if it declares a name twice, because blocks have no scope here.
 */
export function declaredNames(
  fn: ArrowFunctionExpression | FunctionExpression | FunctionDeclaration,
): string[] {
  const names = fn.params.flatMap(namesInPattern);
  if (fn.type === "FunctionExpression" && fn.id) names.push(fn.id.name);
  if (fn.body.type === "BlockStatement") names.push(...fn.body.body.flatMap(namesInStatement));
  if (new Set(names).size < names.length) throw new UnsupportedSource("it declares a name twice");
  return names;
}

function namesInPattern(pattern: Pattern): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "AssignmentPattern":
      return namesInPattern(pattern.left);
    case "RestElement":
      return namesInPattern(pattern.argument);
    case "ArrayPattern":
      return pattern.elements.flatMap((one) => (one === null ? [] : namesInPattern(one)));
    case "ObjectPattern":
      return pattern.properties.flatMap((one) =>
        namesInPattern(one.type === "RestElement" ? one.argument : one.value),
      );
    default:
      return [];
  }
}

function namesIn(declaration: VariableDeclaration): string[] {
  return declaration.declarations.flatMap(({ id }) => namesInPattern(id));
}

function namesInStatement(statement: Statement): string[] {
  switch (statement.type) {
    case "VariableDeclaration":
      return namesIn(statement);
    case "FunctionDeclaration":
      return [statement.id.name];
    case "BlockStatement":
      return statement.body.flatMap(namesInStatement);
    case "IfStatement":
      return [statement.consequent, statement.alternate].flatMap((one) =>
        one ? namesInStatement(one) : [],
      );
    case "ForStatement":
      return [
        ...(statement.init?.type === "VariableDeclaration" ? namesIn(statement.init) : []),
        ...namesInStatement(statement.body),
      ];
    case "ForOfStatement":
    case "ForInStatement":
      return [
        ...(statement.left.type === "VariableDeclaration" ? namesIn(statement.left) : []),
        ...namesInStatement(statement.body),
      ];
    case "WhileStatement":
    case "DoWhileStatement":
      return namesInStatement(statement.body);
    default:
      return [];
  }
}
