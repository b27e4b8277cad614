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
  /** The names of blocks of the function that are not around the place. */
  readonly #hidden: ReadonlySet<string>;
  /** True if a part of the source changes a variable or an object. */
  readonly hasChanges: boolean;

  constructor(
    hasChanges: boolean,
    names: ReadonlyMap<string, string> = new Map(),
    counter = { count: 0 },
    hidden: ReadonlySet<string> = new Set(),
  ) {
    this.hasChanges = hasChanges;
    this.#names = names;
    this.#counter = counter;
    this.#hidden = hidden;
  }

  inner(declared: readonly string[]): Scope {
    const names = new Map(this.#names);
    for (const name of declared) names.set(name, `%${this.#counter.count++}`);
    const hidden = [...this.#hidden].filter((name) => !declared.includes(name));
    return new Scope(this.hasChanges, names, this.#counter, new Set(hidden));
  }

  /** Returns the scope of a function's body, outside of its blocks. */
  outside(blocks: readonly string[]): Scope {
    const hidden = new Set([...this.#hidden, ...blocks]);
    return new Scope(this.hasChanges, this.#names, this.#counter, hidden);
  }

  within(block: readonly string[]): Scope {
    const hidden = [...this.#hidden].filter((name) => !block.includes(name));
    return new Scope(this.hasChanges, this.#names, this.#counter, new Set(hidden));
  }

  /** Returns the unique name of a declared one. A free name stays as it is. */
  resolve(name: string): string {
    if (name === "arguments") throw new UnsupportedSource("it uses arguments");
    if (this.#hidden.has(name)) throw new UnsupportedSource("it uses a name outside of its block");
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

/** Returns the names that statements declare, but not those of the blocks in them. */
export function namesOfBlock(statements: readonly Statement[]): string[] {
  return statements.flatMap((one) => {
    if (one.type === "VariableDeclaration") return namesIn(one);
    return one.type === "FunctionDeclaration" ? [one.id.name] : [];
  });
}

/** Returns the names that the blocks and loops in statements declare. */
export function namesOfInnerBlocks(statements: readonly Statement[]): string[] {
  const own = new Set(namesOfBlock(statements));
  return statements.flatMap(namesInStatement).filter((name) => !own.has(name));
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
