import { type Alternatives, textOf } from "./alternatives.js";

/** A type that has to have a name, because it contains itself. */
export interface NamedType {
  readonly name: string;
  readonly type: Alternatives;
}

/** The names of the types that are declared beside a model's row: no two are alike, and no type has two. */
export class TypeNames {
  readonly #declared: NamedType[] = [];
  readonly #taken: Set<string>;

  /** @param taken cannot be given out. */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** The types that have been declared, in that order. */
  get declared(): readonly NamedType[] {
    return this.#declared;
  }

  /** A name that nothing else has: `UserTree`, else `UserTree2`. */
  claim(base: string, suffix: string): string {
    let name = base + suffix;
    for (let number = 2; this.#taken.has(name); number++) name = `${base}${number}${suffix}`;
    this.#taken.add(name);
    return name;
  }

  /**
   * Declares a type under a name that was claimed for it.
   *
   * @param isShared whether the name of an equal type does as well.
   * @returns the name that the type has.
   */
  declare(name: string, type: Alternatives, isShared: boolean): string {
    const isEqual = (other: NamedType) =>
      textOf(other.type) === renamed(textOf(type), name, other.name);
    const equal = isShared ? this.#declared.find(isEqual) : undefined;
    if (equal === undefined) {
      this.#declared.push({ name, type });
      return name;
    }
    this.#taken.delete(name);
    return equal.name;
  }

  /** What a name stands for; undefined while its type is being written. */
  typeOf(name: string): Alternatives | undefined {
    return this.#declared.find((named) => named.name === name)?.type;
  }

  /** Takes back what was declared since there were so many, and returns the names. */
  forget(count: number): ReadonlySet<string> {
    return new Set(this.#declared.splice(count).map(({ name }) => name));
  }
}

/** A type as text with another name in it. Names within string literals are left alone. */
export function renamed(text: string, name: string, other: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|[\p{ID_Continue}$]+/gu, (token) =>
    token === name ? other : token,
  );
}
