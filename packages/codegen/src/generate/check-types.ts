import { statSync } from "node:fs";
import { join } from "node:path";
import type Typescript from "typescript";
import type { SpelledField } from "../schema/type-writer.js";
import { posix } from "./paths.js";
import type { Compiler, Tsconfig } from "./read-tsconfig.js";
import { importResolver } from "./resolve-imports.js";

/** Fields whose types are compared with what their references stand for. */
export interface Check {
  /** Of the file that they will be in, without its extension. */
  readonly name: string;
  /** What the types need above them. */
  readonly declarations: string;
  /** What the model is called in them. */
  readonly model: string;
  readonly fields: readonly SpelledField[];
}

/** What the compiler says of a check. */
export interface CheckResult {
  /** The fields that are of another type than is spelled out. */
  readonly differing: readonly SpelledField[];
  /** Whether what types stand for could not be read: the model, or something that it is made of, has no types. */
  readonly isUnread: boolean;
}

const comparison = `
type $Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
type $IsAny<T> = 0 extends 1 & T ? true : false;
/** What is any tells nothing, as where a module cannot be found. */
type $Compared<Spelled, Inferred> = $IsAny<Inferred> extends true
  ? $IsAny<Spelled> extends true ? "same" : "any"
  : $Equal<Spelled, Inferred> extends true ? "same" : "other";
`;

/**
 * Returns a function that says of some checks which of their fields are of another type than is spelled out. The compiler reads
 * what stands in the project; nothing is written.
 *
 * @param folder in which the checks are taken to stand.
 */
export function typeComparison(
  compiler: Compiler,
  folder: string,
  tsconfig: Tsconfig,
): (checks: readonly Check[]) => CheckResult[] {
  const options = compilerOptions(compiler, tsconfig);
  const texts = new Map<string, string>();
  const host = hostWith(compiler, options, texts);
  const imports = importResolver(compiler, options, host);
  host.resolveModuleNameLiterals = imports.resolve;
  let before: Typescript.Program | undefined;
  return (checks) => {
    texts.clear();
    for (const check of checks) {
      texts.set(posix(join(folder, `${check.name}.keywright-check.ts`)), checkText(check));
    }
    const program = compiler.createProgram([...texts.keys()], options, host, before);
    before = program;
    const checker = program.getTypeChecker();
    return [...texts.keys()].map((path, position) => {
      const { fields = [] } = checks[position] ?? {};
      const types = aliasedTypes(compiler, checker, program.getSourceFile(path));
      const results = fields.map((_, number) => types.get(`$Field${number}`));
      // A field may be any because its schema is declared so, and then there is nothing else to read.
      const mayBeUnread = types.get("$Model") === "true" || imports.hasMissing();
      return {
        differing: fields.filter((_, number) => results[number] === '"other"'),
        // Where a module is missing the whole comparison is any.
        isUnread: mayBeUnread && results.some((result) => result === '"any"' || result === "any"),
      };
    });
  };
}

function checkText({ declarations, model, fields }: Check): string {
  const aliases = fields.map(
    ({ type, reference }, number) => `type $Field${number} = $Compared<${type}, ${reference}>;`,
  );
  return [declarations, comparison, `type $Model = $IsAny<typeof ${model}>;`, ...aliases, ""].join(
    "\n",
  );
}

/** The types that have names in a file, as text by their names. */
function aliasedTypes(
  compiler: Compiler,
  checker: Typescript.TypeChecker,
  file: Typescript.SourceFile | undefined,
): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const statement of file?.statements ?? []) {
    if (!compiler.isTypeAliasDeclaration(statement)) continue;
    const type = checker.getTypeAtLocation(statement.name);
    types.set(statement.name.text, checker.typeToString(type));
  }
  return types;
}

/** The project's own options as far as modules are found by them; types are as strict as generated ones are. */
function compilerOptions(
  compiler: Compiler,
  { options: own }: Tsconfig,
): Typescript.CompilerOptions {
  const { NodeNext } = compiler.ModuleKind;
  return {
    target: compiler.ScriptTarget.ES2023,
    ...(own.module === undefined ? { module: NodeNext } : {}),
    ...own,
    lib: librariesOf(own),
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    composite: false,
    incremental: false,
    skipLibCheck: true,
  };
}

/** Those of a browser take longer to read than all else, and rows hold none of their classes. */
function librariesOf({ lib = ["lib.esnext.d.ts"] }: Typescript.CompilerOptions): string[] {
  return lib.filter((name) => !/dom|webworker|scripthost/i.test(name));
}

/** The files of the system, and some texts that are not there. */
function hostWith(
  compiler: Compiler,
  options: Typescript.CompilerOptions,
  texts: ReadonlyMap<string, string>,
): Typescript.CompilerHost {
  const host = compiler.createCompilerHost(options);
  const kind = JSON.stringify(options);
  return {
    ...host,
    fileExists: (path) => texts.has(path) || host.fileExists(path),
    readFile: (path) => texts.get(path) ?? host.readFile(path),
    getSourceFile(path, languageVersion, ...others) {
      const text = texts.get(path);
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
