import { statSync } from "node:fs";
import type Typescript from "typescript";
import type { Compiler, Tsconfig } from "../project/config/read-tsconfig.js";
import { importResolver } from "./resolve-imports.js";

/** The files to read: what the checked modules import, or also global declarations. */
export type CheckScope = "imports" | "whole";

/** A program that was created from texts in memory. */
export interface CheckProgram {
  readonly program: Typescript.Program;
  /** True if a file, or one that it imports, imports a module that is not found or has no types. */
  readonly hasMissing: (path: string) => boolean;
}

/** Returns a function that compiles texts in memory, each with the path of its key. */
export function checkPrograms(
  compiler: Compiler,
  tsconfig: Tsconfig,
  scope: CheckScope,
): (texts: ReadonlyMap<string, string>) => CheckProgram {
  const options = compilerOptions(compiler, tsconfig, scope);
  const ambient = scope === "whole" ? ambientFiles(compiler, tsconfig) : [];
  let texts: ReadonlyMap<string, string> = new Map();
  const host = hostWith(compiler, options, () => texts);
  const imports = importResolver(compiler, options, host);
  host.resolveModuleNameLiterals = imports.resolve;
  let previous: Typescript.Program | undefined;
  return (newTexts) => {
    texts = newTexts;
    previous = compiler.createProgram([...texts.keys(), ...ambient], options, host, previous);
    return { program: previous, hasMissing: imports.hasMissing };
  };
}

/** The project's options find modules. Types are checked as strictly as generated ones need. */
function compilerOptions(
  compiler: Compiler,
  { options: own }: Tsconfig,
  scope: CheckScope,
): Typescript.CompilerOptions {
  const { NodeNext } = compiler.ModuleKind;
  return {
    target: compiler.ScriptTarget.ES2023,
    ...(own.module === undefined ? { module: NodeNext } : {}),
    ...own,
    lib: librariesOf(own, scope),
    ...(scope === "imports" ? { types: [] } : {}),
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    composite: false,
    incremental: false,
    skipLibCheck: true,
  };
}

/** Leaves out the libraries of browsers, which take longest to read, in the scope `imports`. */
function librariesOf({ lib }: Typescript.CompilerOptions, scope: CheckScope): string[] {
  if (scope === "whole") return lib ?? ["lib.esnext.full.d.ts"];
  return (lib ?? ["lib.esnext.d.ts"]).filter((name) => !/dom|webworker|scripthost/i.test(name));
}

function hostWith(
  compiler: Compiler,
  options: Typescript.CompilerOptions,
  texts: () => ReadonlyMap<string, string>,
): Typescript.CompilerHost {
  const host = compiler.createCompilerHost(options);
  // Programs whose options have the same key parse a file in the same way.
  const kind = compiler.createDocumentRegistry().getKeyForCompilationSettings(options);
  return {
    ...host,
    fileExists: (path) => texts().has(path) || host.fileExists(path),
    readFile: (path) => texts().get(path) ?? host.readFile(path),
    getSourceFile(path, languageVersion, ...others) {
      const text = texts().get(path);
      if (text !== undefined) return compiler.createSourceFile(path, text, languageVersion);
      const read = () => host.getSourceFile(path, languageVersion, ...others);
      return isPackageFile(path) ? packageFile(`${kind} ${path}`, path, read) : read();
    },
  };
}

/** True for the files of packages, and for declarations, which linked packages have too. */
function isPackageFile(path: string): boolean {
  return path.includes("/node_modules/") || /\.d\.[cm]?ts$/.test(path);
}

/** The files of packages that earlier rounds of `--watch` have read. */
const packageFiles = new Map<
  string,
  { readonly changed: number; readonly file: Typescript.SourceFile | undefined }
>();

/** True if files of packages were read by this process before. */
export function hasReadPackages(): boolean {
  return packageFiles.size > 0;
}

function packageFile(
  key: string,
  path: string,
  read: () => Typescript.SourceFile | undefined,
): Typescript.SourceFile | undefined {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const cached = packageFiles.get(key);
  if (cached?.changed === changed) return cached.file;
  const file = read();
  packageFiles.set(key, { changed, file });
  return file;
}

/** Returns declaration files, and modules with a `declare global`. */
function ambientFiles({ sys }: Compiler, { files }: Tsconfig): string[] {
  return [...files()].filter(
    (name) =>
      /\.d\.(?:\w+\.)?[cm]?ts$/.test(name) || /\bdeclare\s+global\b/.test(sys.readFile(name) ?? ""),
  );
}
