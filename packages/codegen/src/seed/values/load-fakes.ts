import { pathToFileURL } from "node:url";
import type { Faker } from "@faker-js/faker";
import type randexp from "randexp";
import { SeedPackagesError } from "../../errors/seed-errors.js";
import { pathOfPackage } from "../../project/open-path.js";
import { seedTime } from "./date-value.js";
import type { Fakes } from "./fakes.js";

/** Only its English texts are loaded: all languages together take most of a second. */
const fakerModule = "@faker-js/faker/locale/en";

/**
 * Loads the sources of random values from the packages of a project. They are optional
 * dependencies, because only projects that generate rows need them.
 *
 * @param folder the folder of the project.
 * @param seed the same number gives the same values.
 * @throws {SeedPackagesError} if a package is not installed.
 */
export async function loadFakes(folder: string, seed: number): Promise<Fakes> {
  const paths = [pathOfPackage(folder, fakerModule), pathOfPackage(folder, "randexp")] as const;
  const names = ["@faker-js/faker", "randexp"];
  const missing = names.filter((_, i) => paths[i] === undefined);
  if (missing.length > 0) throw new SeedPackagesError({ packageNames: missing });
  const { faker } = (await load(paths[0]!)) as { readonly faker: Faker };
  const { default: exports } = (await load(paths[1]!)) as RandexpModule;
  const Expression = typeof exports === "function" ? exports : exports.default;
  faker.seed(seed);
  faker.setDefaultRefDate(seedTime);
  return {
    faker,
    textOf: (pattern, repeats, isExact) => {
      const expression = new Expression(simplePattern(pattern, isExact ? repeats : undefined));
      expression.max = repeats;
      expression.randInt = (min, max) => faker.number.int({ min, max });
      return expression.gen();
    },
  };
}

type ExpressionClass = typeof randexp.default;

/** As Node.js imports a CommonJS module that was compiled from an ES module. */
interface RandexpModule {
  readonly default: ExpressionClass | { readonly default: ExpressionClass };
}

async function load(path: string): Promise<unknown> {
  return await import(pathToFileURL(path).href);
}

/** Letters and digits for the properties of Unicode that a pattern may name. */
const properties: readonly (readonly [RegExp, string])[] = [
  [/^(L|Letter|Alphabetic|Alpha)$/, "A-Za-z"],
  [/^(Lu|Uppercase_Letter|Uppercase)$/, "A-Z"],
  [/^(Ll|Lowercase_Letter|Lowercase)$/, "a-z"],
  [/^(N|Nd|Number|Decimal_Number)$/, "0-9"],
  [/^(Z|Zs|White_Space)$/, " "],
  [/^(P|Pd|Punctuation)$/, "\\-"],
];

/**
 * Rewrites the parts of a pattern that randexp does not know: groups with a name, and common
 * properties of Unicode. The new pattern matches fewer texts.
 *
 * @param repeats replaces quantifiers without an upper limit, as in `a*`.
 */
function simplePattern({ source, flags }: RegExp, repeats?: number): RegExp {
  let isInClass = false;
  const text = source.replaceAll(
    /\\p\{([^}]*)\}|\\k<[^>]*>|\\.|\(\?<(?![=!])[^>]*>|[[\]*+]|\{(\d+),\}/gs,
    (part, property: string | undefined, minimum: string | undefined) => {
      if (property !== undefined) {
        const characters = properties.find(([name]) => name.test(property))?.[1];
        if (characters === undefined) return part;
        return isInClass ? characters : `[${characters}]`;
      }
      if (part === "[") isInClass = true;
      else if (part === "]") isInClass = false;
      const least = part === "+" ? 1 : part === "*" ? 0 : minimum && Number(minimum);
      if (!isInClass && repeats !== undefined && typeof least === "number")
        return `{${Math.max(least, repeats)}}`;
      return part.startsWith("(?<") ? "(" : part;
    },
  );
  try {
    return new RegExp(text, flags.replaceAll(/[uvgy]/g, ""));
  } catch {
    return new RegExp(source, flags);
  }
}
