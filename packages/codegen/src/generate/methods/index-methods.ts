import type { CompiledIndex } from "@keywright/orm/codegen";
import type { NamedModel } from "../../project/models/model-names.js";
import type { ModelTypes } from "../../types/model-types.js";
import { listMethods } from "./list-methods.js";
import { aggregatesText } from "./parts/aggregates-text.js";
import { conditionsOn } from "./parts/index-conditions.js";
import type { Method } from "./parts/method.js";
import { primaryKeyParameters } from "./parts/primary-key-parameters.js";
import { conditionsName, indexSubject, primaryKeySubject, type Subject } from "./parts/subject.js";
import type { WriteData } from "./parts/upsert-data.js";
import { totalsMethods } from "./totals-methods.js";
import { uniqueMethods } from "./unique-methods.js";

/** A type that the methods of an index take. */
export interface IndexType {
  readonly name: string;
  readonly description: string;
  readonly type: string;
}

/**
 * Returns the methods of an index: those of a unique index for one row, such as `findByEmail`,
 * those for several rows, such as `listByEmail`, and those that read the aggregates of the index.
 */
export function indexMethods(
  named: NamedModel,
  index: CompiledIndex,
  types: ModelTypes,
  data: WriteData,
): Method[] {
  const subject = indexSubject(named, index, types, data);
  const { min = [], max = [] } = named.definition.indexes[index.name] ?? {};
  const aggregates = aggregatesText({ sums: index.sums, min, max }, named.names, types);
  return [
    ...(index.unique ? uniqueMethods(subject, index) : []),
    ...listMethods(subject),
    ...rankMethods(subject, index),
    ...(index.counted || aggregates ? totalsMethods(subject, aggregates) : []),
  ];
}

/**
 * Returns the method that tells the rank of a row in the order of an index. There is none if the
 * index is not ranked, or if a row can have several places in it.
 */
function rankMethods(subject: Subject, index: CompiledIndex): Method[] {
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

/** Returns the methods that find several rows by their primary key, such as `listById`. */
export function primaryKeyListMethods(named: NamedModel, types: ModelTypes): Method[] {
  return listMethods(primaryKeySubject(named, types));
}

/**
 * Returns the type that a list by several fields takes, or undefined if there is only one field.
 *
 * @param index undefined for the primary key.
 */
export function indexType(
  named: NamedModel,
  index: CompiledIndex | undefined,
  types: ModelTypes,
): IndexType | undefined {
  const subject: Subject =
    index === undefined ? primaryKeySubject(named, types) : indexSubject(named, index, types);
  if (subject.fields.length < 2) return undefined;
  const { suffix, fields } = subject;
  const key = index === undefined ? "primary key" : "index";
  return {
    name: conditionsName(named.names, suffix),
    description: `The conditions of \`listBy${suffix}\`, on the first fields of the ${key}. The last one can be a range.`,
    type: conditionsOn(fields),
  };
}
