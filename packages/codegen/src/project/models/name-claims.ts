import { NameCollisionError } from "../../errors/codegen-errors.js";

/** Names that must be unique, such as those of the methods of a class, and the owner of each. */
export class NameClaims {
  readonly #owners = new Map<string, string>();

  claim(name: string, owner: string): string {
    const first = this.#owners.get(name);
    if (first !== undefined) {
      throw new NameCollisionError({ generatedName: name, first, second: owner });
    }
    this.#owners.set(name, owner);
    return name;
  }
}
