import { isBuiltin } from "node:module";
import type Typescript from "typescript";
import type { Compiler } from "../project/config/read-tsconfig.js";

/** Finds the modules that files import, for a host of the compiler. */
export interface ImportResolver {
  readonly resolve: NonNullable<Typescript.CompilerHost["resolveModuleNameLiterals"]>;
  /** True if a file, or one that it imports, imports a module that is not found or has no types. */
  readonly hasMissing: (path: string) => boolean;
}

/** Follows imports as the options require, and otherwise as a bundler does. */
export function importResolver(
  compiler: Compiler,
  options: Typescript.CompilerOptions,
  host: Typescript.ModuleResolutionHost,
): ImportResolver {
  const { ModuleKind, ModuleResolutionKind } = compiler;
  const find = createFinder(compiler, options, host);
  const findAsBundler = createFinder(
    compiler,
    { ...options, module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler },
    host,
  );
  /** What each file of the project imports. Undefined stands for a module without types. */
  const imported = new Map<string, Set<string | undefined>>();
  const resolved = (literal: Typescript.StringLiteralLike, from: string, mode: Mode) => {
    const found = find(literal.text, from, mode);
    if (hasTypes(found, options)) return found;
    const bundled = findAsBundler(literal.text, from, ModuleKind.ESNext);
    return hasTypes(bundled, options) ? bundled : found;
  };
  const hasMissing = (path: string, seen = new Set<string>()): boolean => {
    if (seen.has(path)) return false;
    seen.add(path);
    const paths = [...(imported.get(path) ?? [])];
    return paths.some((each) => each === undefined || hasMissing(each, seen));
  };
  return {
    hasMissing,
    resolve: (literals, from, _redirected, _options, file) => {
      const paths = imported.get(from) ?? new Set();
      if (!from.includes("/node_modules/")) imported.set(from, paths);
      return literals.map((literal) => {
        const mode = compiler.getModeForUsageLocation(file, literal, options);
        const found = resolved(literal, from, mode);
        const path = hasTypes(found, options) ? found.resolvedModule?.resolvedFileName : undefined;
        if (!isBuiltin(literal.text)) paths.add(path);
        return found;
      });
    },
  };
}

type Mode = Typescript.ResolutionMode;

type Find = (
  name: string,
  from: string,
  mode: Mode,
) => Typescript.ResolvedModuleWithFailedLookupLocations;

function createFinder(
  compiler: Compiler,
  options: Typescript.CompilerOptions,
  host: Typescript.ModuleResolutionHost,
): Find {
  const cache = compiler.createModuleResolutionCache(
    compiler.sys.getCurrentDirectory(),
    (name) => (compiler.sys.useCaseSensitiveFileNames ? name : name.toLowerCase()),
    options,
  );
  return (name, from, mode) =>
    compiler.resolveModuleName(name, from, options, host, cache, undefined, mode);
}

function hasTypes(
  { resolvedModule }: Typescript.ResolvedModuleWithFailedLookupLocations,
  { allowJs = false }: Typescript.CompilerOptions,
): boolean {
  if (resolvedModule === undefined) return false;
  return allowJs || !/^\.[cm]?jsx?$/.test(resolvedModule.extension);
}
