import { pathToFileURL } from "node:url";
import type { Faker } from "@faker-js/faker";
import type randexp from "randexp";
import { SeedPackagesError } from "../../errors/seed-errors.js";
import { pathOfPackage } from "../../project/open-path.js";
import { seedTime } from "./date-value.js";
import type { Fakes } from "./fakes.js";
import { simplePattern } from "./simple-pattern.js";

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
