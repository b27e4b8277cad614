import { docComment } from "../../../types/doc-comment.js";

/** A method of a generated repository. It calls one method of its rows. */
export interface Method {
  readonly name: string;
  /** The text of the comment: the effect and the cost of the method. */
  readonly description: string;
  readonly errors?: readonly string[];
  /** The type parameters as code: `F extends "team" | "score"`. */
  readonly typeParameters?: string;
  /** The parameters as code: `id: string`. */
  readonly parameters: readonly string[];
  /** The return type as code: `Promise<UserRow | null>`. */
  readonly result: string;
  /** The call of the method of `Rows`: `findUnique({ where: { id } })`. */
  readonly call: string;
}

export function methodText(method: Method): string {
  const { name, description, errors = [], typeParameters, parameters, result, call } = method;
  const generics = typeParameters === undefined ? "" : `<${typeParameters}>`;
  const thrown = errors.map((error) => `@throws ${error}`);
  const comment = docComment(
    [description, ...(thrown.length > 0 ? ["", ...thrown] : [])].join("\n"),
    2,
  );
  return [
    `${comment}${name}${generics}(${parameters.join(", ")}): ${result} {`,
    `return this.#rows.${call};`,
    "}",
  ].join("\n");
}
