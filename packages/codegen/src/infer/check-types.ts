import { join } from "node:path";
import type Typescript from "typescript";
import type { Compiler, Tsconfig } from "../project/config/read-tsconfig.js";
import { posix } from "../project/files/paths.js";
import type { SpelledField } from "../types/type-writer.js";
import { type CheckScope, checkPrograms } from "./check-program.js";
import { type ComputedPart, computedType } from "./computed-parts.js";

/** Fields whose spelled-out types are compared with the types that their references have. */
export interface Check {
  /** The name of the file that will contain the types, without its extension. */
  readonly name: string;
  readonly declarations: string;
  readonly model: string;
  readonly fields: readonly SpelledField[];
  readonly computed: readonly ComputedPart[];
}

export interface CheckResult {
  readonly differing: readonly SpelledField[];
  /** True if the model, or something that it is made of, has no types. */
  readonly isUnread: boolean;
  /** The known types of the computed parts, by the name of the index. */
  readonly computed: ReadonlyMap<string, string>;
}

const comparison = `
type $Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
type $IsAny<T> = 0 extends 1 & T ? true : false;
/** The type any says nothing about a value. It also stands for a module that is not found. */
type $Compared<Spelled, Inferred> = $IsAny<Inferred> extends true
  ? $IsAny<Spelled> extends true ? "same" : "any"
  : $Equal<Spelled, Inferred> extends true ? "same" : "other";
`;

/**
 * Returns a function that runs checks: it finds the fields whose inferred type differs from the
 * spelled-out one. The compiler reads the files of the project. Nothing is written.
 *
 * @param folder the folder in which the compiler sees the texts of the checks.
 */
export function typeComparison(
  compiler: Compiler,
  folder: string,
  tsconfig: Tsconfig,
): (checks: readonly Check[]) => CheckResult[] {
  const programs = new Map<CheckScope, ReturnType<typeof checkPrograms>>();
  const compare = (checks: readonly Check[], scope: CheckScope): Comparison[] => {
    if (checks.length === 0) return [];
    const texts = new Map(
      checks.map((check) => [
        posix(join(folder, `${check.name}.keywright-check.ts`)),
        checkText(check),
      ]),
    );
    const createProgram = programs.get(scope) ?? checkPrograms(compiler, tsconfig, scope);
    programs.set(scope, createProgram);
    const { program, hasMissing } = createProgram(texts);
    const checker = program.getTypeChecker();
    return [...texts.keys()].map((path, position) => {
      const types = aliasedTypes(compiler, checker, program.getSourceFile(path));
      return comparisonOf(checks[position]!, types, hasMissing(path));
    });
  };
  return (checks) => {
    const importChecks = checks.filter((check) => !namesBrowserClass(check));
    const results = new Map(
      compare(importChecks, "imports").map((result, position) => [importChecks[position], result]),
    );
    // In the scope `imports`, a type that is declared for all files is `any`.
    const inconclusive = checks.filter((check) => results.get(check)?.hasAny !== false);
    compare(inconclusive, "whole").forEach((result, position) => {
      results.set(inconclusive[position], result);
    });
    return checks.map((check) => results.get(check)!);
  };
}

interface Comparison extends CheckResult {
  /** True if a type was read as `any` that is not known to be declared as `any`. */
  readonly hasAny: boolean;
}

/** `URL` is the only class in spelled-out types that needs the libraries of browsers. */
function namesBrowserClass({ fields }: Check): boolean {
  return fields.some(({ type }) => /\bURL\b/.test(type));
}

function comparisonOf(
  { fields, computed }: Check,
  types: ReadonlyMap<string, string>,
  hasMissing: boolean,
): Comparison {
  const results = fields.map((_, number) => types.get(`$Field${number}`));
  // If a module is missing, the whole comparison is `any`.
  const hasAny = results.some((result) => result === '"any"' || result === "any");
  // A field is also `any` if its schema is declared as `any`. Then its type was read correctly.
  const isUnread = hasAny && (hasMissing || types.get("$Model") === "true");
  const isDiffering = (result: string | undefined) =>
    result === '"other"' || (result === '"any"' && !isUnread);
  const computedTypes = computed.map((_, number) => types.get(`$Computed${number}`) ?? "any");
  const knownTypes = computed.flatMap((part, number) => {
    const type = computedType(part, computedTypes[number]!);
    return type === undefined ? [] : [[part.index, type] as const];
  });
  return {
    differing: fields.filter((_, number) => isDiffering(results[number])),
    isUnread,
    computed: new Map(knownTypes),
    hasAny: hasAny || computedTypes.includes("any"),
  };
}

function checkText({ declarations, model, fields, computed }: Check): string {
  const fieldAliases = fields.map(
    ({ type, reference }, number) => `type $Field${number} = $Compared<${type}, ${reference}>;`,
  );
  const computedAliases = computed.map(
    ({ reference }, number) => `type $Computed${number} = ${reference};`,
  );
  const modelAlias = `type $Model = $IsAny<typeof ${model}>;`;
  return [declarations, comparison, modelAlias, ...fieldAliases, ...computedAliases, ""].join("\n");
}

function aliasedTypes(
  compiler: Compiler,
  checker: Typescript.TypeChecker,
  file: Typescript.SourceFile | undefined,
): ReadonlyMap<string, string> {
  const { InTypeAlias, NoTruncation } = compiler.TypeFormatFlags;
  const flags = InTypeAlias | NoTruncation;
  const types = new Map<string, string>();
  for (const statement of file?.statements ?? []) {
    if (!compiler.isTypeAliasDeclaration(statement)) continue;
    const type = checker.getTypeAtLocation(statement.name);
    types.set(statement.name.text, checker.typeToString(type, undefined, flags));
  }
  return types;
}
