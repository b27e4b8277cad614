import { join } from "node:path";
import type Typescript from "typescript";
import { posix } from "../project/paths.js";
import type { Compiler, Tsconfig } from "../project/read-tsconfig.js";
import type { SpelledField } from "../types/type-writer.js";
import { type CheckProgram, type CheckScope, checkPrograms } from "./check-program.js";
import { type ComputedPart, computedType } from "./computed-parts.js";

/** Fields whose types are compared with what their references stand for. */
export interface Check {
  /** Of the file that they will be in, without its extension. */
  readonly name: string;
  /** What the types need above them. */
  readonly declarations: string;
  /** What the model is called in them. */
  readonly model: string;
  readonly fields: readonly SpelledField[];
  readonly computed: readonly ComputedPart[];
}

/** What the compiler says of a check. */
export interface CheckResult {
  /** The fields that are of another type than is spelled out. */
  readonly differing: readonly SpelledField[];
  /** Whether what types stand for could not be read: the model, or something that it is made of, has no types. */
  readonly isUnread: boolean;
  /** The types of the computed parts that are known, by the index. */
  readonly computed: ReadonlyMap<string, string>;
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
  const programs = new Map<CheckScope, ReturnType<typeof checkPrograms>>();
  const compare = (checks: readonly Check[], scope: CheckScope): Comparison[] => {
    if (checks.length === 0) return [];
    const texts = new Map(
      checks.map((check) => [
        posix(join(folder, `${check.name}.keywright-check.ts`)),
        checkText(check),
      ]),
    );
    const make = programs.get(scope) ?? checkPrograms(compiler, tsconfig, scope);
    programs.set(scope, make);
    const made = make(texts);
    const checker = made.program.getTypeChecker();
    return [...texts.keys()].map((path, position) => {
      const types = aliasedTypes(compiler, checker, made.program.getSourceFile(path));
      return comparisonOf(checks[position]!, types, made);
    });
  };
  return (checks) => {
    const quick = checks.filter((check) => !namesBrowserClass(check));
    const results = new Map(
      compare(quick, "imports").map((result, position) => [quick[position], result]),
    );
    // A type that is not imported is any there.
    const open = checks.filter((check) => results.get(check)?.hasAny !== false);
    compare(open, "whole").forEach((result, position) => {
      results.set(open[position], result);
    });
    return checks.map((check) => results.get(check)!);
  };
}

interface Comparison extends CheckResult {
  /** Whether a type is any which is not declared so as far as is known. */
  readonly hasAny: boolean;
}

/** The only class that is spelled out and that the language itself does not have. */
function namesBrowserClass({ fields }: Check): boolean {
  return fields.some(({ type }) => /\bURL\b/.test(type));
}

function comparisonOf(
  { fields, computed }: Check,
  types: ReadonlyMap<string, string>,
  { hasMissing }: CheckProgram,
): Comparison {
  const results = fields.map((_, number) => types.get(`$Field${number}`));
  // Where a module is missing the whole comparison is any.
  const hasAny = results.some((result) => result === '"any"' || result === "any");
  // A field may be any because its schema is declared so, and then there is nothing else to read.
  const isUnread = hasAny && (hasMissing || types.get("$Model") === "true");
  const isDiffering = (result: string | undefined) =>
    result === '"other"' || (result === '"any"' && !isUnread);
  const made = computed.map((_, number) => types.get(`$Computed${number}`) ?? "any");
  const known = computed.flatMap((part, number) => {
    const type = computedType(part, made[number]!);
    return type === undefined ? [] : [[part.index, type] as const];
  });
  return {
    differing: fields.filter((_, number) => isDiffering(results[number])),
    isUnread,
    computed: new Map(known),
    hasAny: hasAny || made.includes("any"),
  };
}

function checkText({ declarations, model, fields, computed }: Check): string {
  const aliases = fields.map(
    ({ type, reference }, number) => `type $Field${number} = $Compared<${type}, ${reference}>;`,
  );
  const made = computed.map(({ reference }, number) => `type $Computed${number} = ${reference};`);
  const ofModel = `type $Model = $IsAny<typeof ${model}>;`;
  return [declarations, comparison, ofModel, ...aliases, ...made, ""].join("\n");
}

/** The types that have names in a file, as text by their names. */
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
