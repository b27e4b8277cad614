import type { CompiledIndex } from "@keywright/orm/codegen";
import type { NamedModel } from "../../project/models/model-names.js";
import { pascalCase } from "../../types/identifiers.js";
import type { ModelTypes } from "../../types/model-types.js";
import { fieldList } from "./parts/field-list.js";
import { readLimitInStream } from "./parts/list-errors.js";
import type { Method } from "./parts/method.js";
import { exactValues, indexSubject, notReady, notReadyInStream } from "./parts/subject.js";

/**
 * Returns the methods of each full-text index: `search`, `watchSearch` and `explainSearch` for the
 * index `search`.
 */
export function searchMethods(named: NamedModel, types: ModelTypes): Method[] {
  return named.model.indexes
    .filter(({ text }) => text !== undefined)
    .flatMap((index) => methodsOf(named, index, types));
}

function methodsOf(named: NamedModel, index: CompiledIndex, types: ModelTypes): Method[] {
  const subject = indexSubject(named, index, types);
  const { declarations, query } = exactValues(subject);
  const texts = fieldList(index.text!.fields.map(({ field }) => field));
  const among =
    index.fields.length === 0 ? "" : ` among those with this ${fieldList(index.fields)},`;
  const suffix = /^search/u.test(index.name)
    ? pascalCase(index.name.slice("search".length))
    : `By${subject.suffix}`;
  const parameters = [
    "query: string",
    ...declarations,
    `options?: RowSearchOptions<${named.names.row}>`,
  ];
  const search = `search${suffix}`;
  return [
    {
      name: search,
      description: `Finds the rows,${among} whose ${texts} match what a person has typed: words, all of which must occur, \`"a phrase"\`, the beginning of a word \`ca*\`, \`-excluded\`, \`this OR that\`, and \`field:word\`. The best come first. Any text is a query, and \`ignored\` has the parts of it without effect.`,
      errors: [
        ...notReady(subject),
        "{InvalidCursorError} if the cursor belongs to another search.",
        "{ReadLimitError} if it reads more than `maxReads`.",
      ],
      parameters,
      result: "Promise<SearchPage<Row>>",
      call: `search({ ...options, ${query}, query })`,
    },
    {
      name: `watchSearch${suffix}`,
      description: `Returns a stream of the page of \`${search}\`: the current one, then another one after each change of its rows, of their order, or of how many rows match.`,
      errors: [
        "{LiveQueryUnavailableError} if the database cannot watch the rows.",
        ...notReadyInStream(subject),
        readLimitInStream,
      ],
      parameters,
      result: "ReadableStream<SearchPage<Row>>",
      call: `watchSearch({ ...options, ${query}, query })`,
    },
    {
      name: `explainSearch${suffix}`,
      description: `Returns how \`${search}\` would answer a query: the words that it looks for, and about how many entries it reads. Reads no rows.`,
      errors: notReady(subject),
      parameters,
      result: "Promise<SearchExplanation>",
      call: `explainSearch({ ...options, ${query}, query })`,
    },
  ];
}
