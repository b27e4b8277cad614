import ts from "typescript";

/** What the types of a program cost. */
export interface TypeCost {
  /** What is wrong with the program, as `file:line: message`. */
  readonly problems: readonly string[];
  readonly instantiations: number;
  readonly types: number;
  /** Reading, parsing and binding the files, in milliseconds. */
  readonly reading: number;
  /** Checking them, in milliseconds. */
  readonly checking: number;
  /** The heap behind the program, in bytes; without `--expose-gc`, with what is no longer used. */
  readonly memory: number;
}

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
};

/** A reader of files that parses those of packages and of TypeScript once, for several programs. */
export function cachingHost(): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const parsed = new Map<string, ts.SourceFile | undefined>();
  return {
    ...host,
    getSourceFile: (path, ...rest) => {
      if (!path.endsWith(".d.ts")) return host.getSourceFile(path, ...rest);
      if (!parsed.has(path)) parsed.set(path, host.getSourceFile(path, ...rest));
      return parsed.get(path);
    },
  };
}

/**
 * Checks a program as `tsc --noEmit` does.
 *
 * @param paths of all of its files.
 * @param only the file to check, as an editor does that opens it; without it, all of them.
 */
export function checkTypes(
  paths: readonly string[],
  only?: string,
  host: ts.CompilerHost = ts.createCompilerHost(options),
): TypeCost {
  const start = performance.now();
  const program = ts.createProgram([...paths], options, host);
  program.getTypeChecker();
  const read = performance.now();
  const problems =
    only === undefined ? ts.getPreEmitDiagnostics(program) : problemsIn(program, only);
  const end = performance.now();
  globalThis.gc?.();
  return {
    problems: problems.map(problemText),
    instantiations: program.getInstantiationCount(),
    types: program.getTypeCount(),
    reading: read - start,
    checking: end - read,
    memory: process.memoryUsage().heapUsed,
  };
}

function problemsIn(program: ts.Program, path: string): readonly ts.Diagnostic[] {
  const file = program.getSourceFile(path);
  if (file === undefined) throw new RangeError(`${path} is not a file of the program.`);
  return program.getSemanticDiagnostics(file);
}

function problemText({ file, start, messageText }: ts.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, "\n");
  if (file === undefined || start === undefined) return message;
  const { line } = file.getLineAndCharacterOfPosition(start);
  return `${file.fileName}:${line + 1}: ${message}`;
}
