import { isBuiltin } from "node:module";
import type Typescript from "typescript";
import type { Compiler } from "../project/config/read-tsconfig.js";

/** Finds the modules that files import, for a host of the compiler. */
export interface ImportResolver {
  readonly resolve: NonNullable<Typescript.CompilerHost["resolveModuleNameLiterals"]>;
  readonly hasMissing: () => boolean;
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
  let hasMissing = false;
  return {
    hasMissing: () => hasMissing,
    resolve: (literals, from, _redirected, _options, file) =>
      literals.map((literal) => {
        const mode = compiler.getModeForUsageLocation(file, literal, options);
        const found = find(literal.text, from, mode);
        if (hasTypes(found, options)) return found;
        const bundled = findAsBundler(literal.text, from, ModuleKind.ESNext);
        if (hasTypes(bundled, options)) return bundled;
        if (!isBuiltin(literal.text) && !from.includes("/node_modules/")) hasMissing = true;
        return found;
      }),
  };
}

type Find = (
  name: string,
  from: string,
  mode: Typescript.ResolutionMode,
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
