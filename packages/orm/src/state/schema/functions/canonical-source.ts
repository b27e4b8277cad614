import { printTree } from "./canonical/print-tree.js";
import { readSource } from "./canonical/read-function.js";
import { simplify } from "./canonical/simplify.js";
import { UnsupportedSource } from "./canonical/tree.js";
import { functionSource } from "./function-source.js";

/**
 * Returns a text that is the same for all forms of a function that compilers, minifiers and loaders
 * make of one source: for other names of parameters, `1e3` and `1000`, `void 0` and `undefined`,
 * `if` and `? :`, functions and arrow functions, and the like. Databases store the text. A function
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
