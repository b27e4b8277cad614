import { statSync } from "node:fs";
import type Typescript from "typescript";
import type { Compiler, Tsconfig } from "../project/read-tsconfig.js";
import { ambientFiles } from "./ambient-files.js";
import { importResolver } from "./resolve-imports.js";

/** What the compiler reads of the project: what the checked modules import, or what is declared for every file too. */
export type CheckScope = "imports" | "whole";

/** A program that has been made of some texts, as if they were files. */
export interface CheckProgram {
  readonly program: Typescript.Program;
  /** Whether a module that the project's own files import was not found, or has no types. */
  readonly hasMissing: boolean;
}

/**
 * Returns a function that makes programs of texts by the paths at which they are taken to stand. The compiler reads what
 * stands in the project; nothing is written.
 */
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
  let before: Typescript.Program | undefined;
  return (newTexts) => {
    texts = newTexts;
    before = compiler.createProgram([...texts.keys(), ...ambient], options, host, before);
    return { program: before, hasMissing: imports.hasMissing() };
  };
}

/** The project's own options as far as modules are found by them; types are as strict as generated ones are. */
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
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    composite: false,
    incremental: false,
    skipLibCheck: true,
  };
}

/** Those of a browser take longer to read than all else, and few rows hold what they declare. */
function librariesOf({ lib }: Typescript.CompilerOptions, scope: CheckScope): string[] {
  if (scope === "whole") return lib ?? ["lib.esnext.full.d.ts"];
  return (lib ?? ["lib.esnext.d.ts"]).filter((name) => !/dom|webworker|scripthost/i.test(name));
}

/** The files of the system, and some texts that are not there. */
function hostWith(
  compiler: Compiler,
  options: Typescript.CompilerOptions,
  texts: () => ReadonlyMap<string, string>,
): Typescript.CompilerHost {
  const host = compiler.createCompilerHost(options);
  // How a file is read does not depend on the libraries.
  const kind = JSON.stringify({ ...options, lib: undefined });
  return {
    ...host,
    fileExists: (path) => texts().has(path) || host.fileExists(path),
    readFile: (path) => texts().get(path) ?? host.readFile(path),
    getSourceFile(path, languageVersion, ...others) {
      const text = texts().get(path);
      if (text !== undefined) return compiler.createSourceFile(path, text, languageVersion);
      const read = () => host.getSourceFile(path, languageVersion, ...others);
      return path.includes("/node_modules/") ? packageFile(`${kind} ${path}`, path, read) : read();
    },
  };
}

/** Files of packages that were read before, as with `--watch`, and when they had been changed last. */
const packageFiles = new Map<
  string,
  { readonly changed: number; readonly file: Typescript.SourceFile | undefined }
>();

function packageFile(
  key: string,
  path: string,
  read: () => Typescript.SourceFile | undefined,
): Typescript.SourceFile | undefined {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const known = packageFiles.get(key);
  if (known?.changed === changed) return known.file;
  const file = read();
  packageFiles.set(key, { changed, file });
  return file;
}
