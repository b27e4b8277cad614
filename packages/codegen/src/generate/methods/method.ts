import { docComment } from "../../types/doc-comment.js";

/** A method of a generated repository: one call of its table. */
export interface Method {
  readonly name: string;
  /** What it does, what it costs, and what it throws. */
  readonly description: string;
  readonly errors: readonly string[];
  /** As they stand in the code: `id: string`. */
  readonly parameters: readonly string[];
  /** As it stands in the code: `Promise<UserRow | null>`. */
  readonly result: string;
  /** The call of the table: `findByPrimaryKey([id])`. */
  readonly call: string;
}

export function methodText(method: Method): string {
  const { name, description, errors, parameters, result, call } = method;
  const thrown = errors.map((error) => `@throws ${error}`);
  const comment = docComment(
    [description, ...(thrown.length > 0 ? ["", ...thrown] : [])].join("\n"),
    2,
  );
  return [
    `${comment}${name}(${parameters.join(", ")}): ${result} {`,
    `return this.#table.${call};`,
    "}",
  ].join("\n");
}
