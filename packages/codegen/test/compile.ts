import { fileURLToPath } from "node:url";
import ts from "typescript";

/**
 * Compiles files as strictly as a careful project does and returns what is wrong with them, as
 * `file:line: message`. Nothing is written.
 */
export function compile(paths: readonly string[]): string[] {
  const program = ts.createProgram([...paths], {
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
    // The compiler looks for them from the folder in which it was first used.
    typeRoots: [fileURLToPath(new URL("../../../node_modules/@types", import.meta.url))],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    noImplicitOverride: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    isolatedModules: true,
    skipLibCheck: true,
    declaration: true,
    noEmit: true,
  });
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const { file, start } = diagnostic;
    const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
    if (file === undefined || start === undefined) return message;
    const { line } = file.getLineAndCharacterOfPosition(start);
    return `${file.fileName}:${line + 1}: ${message}`;
  });
}

/** Types in which a generated type can be compared with what it should be, field by field. */
export const comparisonTypes = `
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
type Alike<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
/**
 * The names of the fields in which two objects differ, but for some that are \`any\` in one and
 * \`unknown\` in the other.
 */
type Differences<A, B, Open = never> = {
  [K in keyof A | keyof B]-?: K extends keyof A & keyof B
    ? (K extends Open ? Alike<Pick<A, K>, Pick<B, K>> : Equal<Pick<A, K>, Pick<B, K>>) extends true ? never : K
    : K;
}[keyof A | keyof B];
/** Does not compile where there are any. */
type Nothing<T extends never> = T;
`;
