import type { CompiledIndex } from "@keywright/orm/codegen";
import type { Method } from "./parts/method.js";
import { primaryKeyParameters } from "./parts/primary-key-parameters.js";
import type { Subject } from "./parts/subject.js";

/**
 * Returns the method that tells the rank of a row in the order of an index. There is none if the
 * index is not ranked, or if a row can have several places in it.
 */
export function rankMethods(subject: Subject, index: CompiledIndex): Method[] {
  const { model, names, types, suffix } = subject;
  if (!index.ranked || index.each !== undefined) return [];
  const key = primaryKeyParameters(model, names, types);
  const lists = index.fields.map((_, last) => {
    const fields = index.fields.slice(0, last + 1).map((field) => JSON.stringify(field));
    return `readonly [${fields.join(", ")}]`;
  });
  return [
    {
      name: `rankBy${suffix}`,
      description: `Returns how many rows precede a row in the order of \`listBy${suffix}\`. With \`by\`, only rows with the same values of the first fields are counted. Null if the row does not exist or is not in the index. The number of reads grows with the logarithm of the number of rows.`,
      errors: [`{IndexNotReadyError} if \`${index.name}\` is not built yet.`],
      parameters: [...key.declarations, `options?: RowRankOptions<${lists.join(" | ")}>`],
      result: "Promise<number | null>",
      call: `rank({ ...options, index: ${JSON.stringify(index.name)}, where: ${key.where} })`,
    },
  ];
}
