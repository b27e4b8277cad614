import { propertyName } from "../../types/identifiers.js";
import type { AggregatesText } from "./parts/aggregates-text.js";
import { unsafeSum } from "./parts/list-errors.js";
import type { Method } from "./parts/method.js";
import { listedRows, notReady, plainFields, type Subject } from "./parts/subject.js";
import { readOptions } from "./parts/write-signature.js";

const countOnly: AggregatesText = { options: "count: true", result: "{ count: number }" };

/**
 * Returns the methods that read what an index adds up: for all rows of a list, and for each value
 * of a field.
 *
 * @param aggregates undefined if the index only counts its rows.
 */
export function totalsMethods(subject: Subject, aggregates: AggregatesText | undefined): Method[] {
  return [
    ...(aggregates === undefined ? [] : [aggregateMethod(subject, aggregates)]),
    ...groupMethods(subject, aggregates ?? countOnly),
  ];
}

function aggregateMethod(subject: Subject, { options, result }: AggregatesText): Method {
  const { suffix } = subject;
  const { parameter, query } = listedRows(subject);
  return {
    name: `aggregateBy${suffix}`,
    description: `Returns the number of rows that \`listBy${suffix}\` finds, and the sums, means, minima and maxima that the index maintains. A value is null if no row has one. Reads depend on the number of combinations of values, not on the number of rows.`,
    errors: [...notReady(subject), unsafeSum],
    parameters: [parameter, readOptions],
    result: `Promise<${result}>`,
    call: `aggregate({ ...options, ${query}, ${options} })`,
  };
}

function groupMethods(subject: Subject, { options, result }: AggregatesText): Method[] {
  const { suffix, fields, names } = subject;
  const { parameter, query } = listedRows(subject);
  const onlyCounts = options === countOnly.options;
  const what = onlyCounts ? "the number of rows" : "the aggregates";
  const method = { name: `groupBy${suffix}`, errors: onlyCounts ? [] : [unsafeSum] };
  const [only] = fields;
  if (fields.length === 1 && only !== undefined) {
    const property = propertyName(only.name);
    return [
      {
        ...method,
        description: `Returns ${what} for each value of \`${only.name}\` in the rows of \`listBy${suffix}\`.`,
        parameters: [parameter, `options?: GroupOptions<${result}>`],
        result: `Promise<({ ${property}: ${only.type} } & ${result})[]>`,
        call: `groupBy({ ...options, ${query}, by: [${JSON.stringify(only.name)}], ${options} })`,
      },
    ];
  }
  const plain = plainFields(subject);
  if (plain.length === 0) return [];
  const choice = plain.map(({ name }) => JSON.stringify(name)).join(" | ");
  return [
    {
      ...method,
      description: `Returns ${what} for each combination of values of some fields in the rows of \`listBy${suffix}\`. \`where\` has a single value for each field before those of \`by\`.`,
      typeParameters: `F extends ${choice}`,
      parameters: ["by: readonly F[]", parameter, `options?: GroupOptions<${result}>`],
      result: `Promise<({ [K in F]: NonNullable<${names.row}[K]> } & ${result})[]>`,
      call: `groupBy({ ...options, ${query}, by, ${options} })`,
    },
  ];
}
