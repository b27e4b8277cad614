import ts from "typescript";

/** The cost of the types of a program. */
export interface TypeCost {
  /** The errors of the program, as `file:line: message`. */
  readonly problems: readonly string[];
  readonly instantiations: number;
  readonly types: number;
  /** The milliseconds of reading, parsing and binding the files. */
  readonly reading: number;
  /** The milliseconds of checking them. */
  readonly checking: number;
  /** The bytes of the heap. Without `--expose-gc`, they include garbage. */
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

/** Returns a compiler host that parses each `.d.ts` file once for several programs. */
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
 * @param paths the paths of all files of the program.
 * @param only the file to check, as an editor does when it opens a file. The default is all files.
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
