import { printTree } from "./canonical/print-tree.js";
import { readSource } from "./canonical/read-function.js";
import { simplify } from "./canonical/simplify.js";
import { UnsupportedSource } from "./canonical/tree.js";
import { functionSource } from "./function-source.js";

/**
 * Returns the same text for all forms that compilers, minifiers and loaders make of a function.
 * Such forms differ in the names of parameters, in `1e3` or `1000`, `void 0` or `undefined`, `if`
 * or `? :`, functions or arrow functions, and the like. Databases store the text. A function
 * without such a form has the text of {@link functionSource}.
 */
export function canonicalSource(fn: (value: never) => unknown): string {
  try {
    return printTree(simplify(readSource(Function.prototype.toString.call(fn))));
  } catch (error) {
    const isExpected =
      error instanceof UnsupportedSource ||
      error instanceof SyntaxError ||
      error instanceof RangeError;
    if (!isExpected) throw error;
    return functionSource(fn);
  }
}
