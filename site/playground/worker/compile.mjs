import { transform } from "sucrase";

/** The name of the program in stack traces. */
export const fileName = "program.ts";

/** The lines that the constructor of functions puts before the program, by ECMAScript. */
export const linesBefore = 2;

const AsyncFunction = (async () => {}).constructor;

/**
 * Removes the types of a program, and makes it a function of `require`, `exports` and `console`.
 *
 * @throws {SyntaxError} if it is not a program.
 */
export function compile(program) {
  const { code } = transform(program, {
    transforms: ["typescript", "imports"],
    filePath: fileName,
    production: true,
    disableESTransforms: true,
  });
  return new AsyncFunction("require", "exports", "console", `${code}\n//# sourceURL=${fileName}`);
}
