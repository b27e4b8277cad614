import { spawnSync } from "node:child_process";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The compiler that runs as a native program. It takes a fifth of the time. */
export const typescript = fileURLToPath(
  new URL("../../../node_modules/typescript-7/bin/tsc", import.meta.url),
);

const options: Readonly<Record<string, string>> = {
  target: "es2023",
  lib: "es2023,esnext.disposable",
  module: "nodenext",
  moduleResolution: "nodenext",
  types: "node",
  // The compiler looks for them from the folder in which it runs.
  typeRoots: fileURLToPath(new URL("../../../node_modules/@types", import.meta.url)),
  strict: "true",
  exactOptionalPropertyTypes: "true",
  noUncheckedIndexedAccess: "true",
  noUnusedLocals: "true",
  noImplicitOverride: "true",
  verbatimModuleSyntax: "true",
  erasableSyntaxOnly: "true",
  isolatedModules: "true",
  skipLibCheck: "true",
  declaration: "true",
  noEmit: "true",
  pretty: "false",
};

/**
 * Compiles files as strictly as a careful project does and returns what is wrong with them, as
 * `file:line: message`. Nothing is written.
 *
 * @param others options that are not the usual ones.
 */
export function compile(
  paths: readonly string[],
  others: Readonly<Record<string, string>> = {},
): string[] {
  const given = Object.entries({ ...options, ...others });
  const flags = given.flatMap(([name, value]) => [`--${name}`, value]);
  const args = [typescript, "--ignoreConfig", ...flags, ...paths];
  // Messages name files relative to the folder in which the compiler runs.
  const cwd = dirname(paths[0]!);
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  if (stderr !== "" || (status !== 0 && stdout === "")) throw new Error(`tsc: ${stderr || status}`);
  // A message of several lines is indented after the first.
  return stdout
    .split(/\n(?! )/)
    .filter((line) => line !== "")
    .map((text) =>
      text.replace(
        /^(.+?)\((\d+),\d+\): error TS\d+: /,
        (_, file: string, line: string) => `${resolve(cwd, file)}:${line}: `,
      ),
    );
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
