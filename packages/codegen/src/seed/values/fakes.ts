import type { Faker } from "@faker-js/faker";

/** The sources of random values. All of them repeat with the same seed. */
export interface Fakes {
  readonly faker: Faker;
  /**
   * Returns a text that a pattern may describe. The caller has to test it, because look-arounds are
   * not followed.
   *
   * @param repeats how often a part without an upper limit, as in `a*`, is repeated: at most, or
   * always if `isExact`.
   * @throws {SyntaxError} if the pattern has other parts that cannot be followed.
   */
  textOf(pattern: RegExp, repeats: number, isExact: boolean): string;
}
