import * as z from "zod";
import { maxAnswerLength } from "../answer/answer.js";
import { lengthOf } from "../answer/bounded.js";
import { jsonOf } from "../values/json-of.js";
import { queryOf } from "../values/query-of.js";
import { describeModel, listModels } from "./describe-model.js";
import { findModel } from "./find-model.js";
import {
  cursor,
  include,
  index,
  maxRows,
  model,
  orderBy,
  reads,
  select,
  take,
  where,
} from "./query-input.js";
import { defineTool, type Tool } from "./tool.js";

const query = z.strictObject({ model, where, orderBy, index });
const fewerRows = "Select fewer fields, or ask for fewer rows.";

/** The tools that read models and rows. */
export const readTools: readonly Tool[] = [
  defineTool({
    name: "models",
    title: "Models",
    description:
      'Without arguments: { models: [{ model, primaryKey, fields, indexes, relations }] }; "name?" is an optional field, and an index is written "byAuthor: authorId, createdAt (unique)". Models that do not fit are in others, by their names. With a model: its fields with their JSON Schemas, its relations, and its indexes with their states. Only an index whose state is "readable" serves queries.',
    input: z.strictObject({ model: model.optional() }),
    effect: "none",
    rest: "Call models with one model, or read the file of the model.",
    run: async (open, input) => {
      if (input.model === undefined) return listModels(open.models);
      return await describeModel(open, findModel(open, input.model));
    },
  }),
  defineTool({
    name: "explain",
    title: "Explain a query",
    description:
      'Says how find would run, without reading rows: { index, kind, segments, covered, reads, … }. index is a name or "primaryKey", segments are the ranges of keys, and reads is the maximum number of entries to read, if take is given. If no index serves the query, the error names the index to add to the model.',
    input: query.extend({ take: take.unwrap().optional() }),
    effect: "none",
    rest: "Ask for fewer alternatives in OR or in.",
    run: async (open, input) => {
      const found = findModel(open, input.model);
      return await found.repository.explain(queryOf(open, found, input));
    },
  }),
  defineTool({
    name: "find",
    title: "Find rows",
    description: `Returns { rows, cursor }: at most ${maxRows} rows that an index serves, and the cursor of the next page, or null after the last. Without where and orderBy: all rows in the order of the primary key. With withVersionstamp: rows are { row, versionstamp }. If not all rows fit into an answer, there are fewer, and the cursor continues after them.`,
    input: query.extend({
      select,
      include,
      take,
      cursor,
      maxReads: reads,
      withVersionstamp: z
        .boolean()
        .optional()
        .describe("A write can check the versionstamp with ifVersion."),
    }),
    effect: "none",
    rest: fewerRows,
    run: async (open, input, signal) => {
      const found = findModel(open, input.model);
      const options = { ...queryOf(open, found, input), signal };
      const { where: given, orderBy: order, index: named } = input;
      const isWhole = given === undefined && order === undefined && named === undefined;
      const { repository } = found;
      return await fittingPage(input.take, async (rowsTaken) => {
        const taking = { ...options, take: rowsTaken };
        const page = isWhole ? repository.scan(taking) : repository.findMany(taking);
        const { items, cursor: next } = await page;
        return { rows: items.map(jsonOf), cursor: next };
      });
    },
  }),
  defineTool({
    name: "search",
    title: "Search texts",
    description:
      'Finds rows by words in a full-text index: { rows: [{ row, score }], count, cursor, ignored }, the best first. A query is words that a row must all have; "a phrase", begin*, -without, this OR that, field:word. `ignored` lists parts of the query that have no effect.',
    input: z.strictObject({
      model,
      query: z.string(),
      where: where.describe("A value for each field of the key of the index, if it has any."),
      index: index.describe("The name of the index, if the model has several full-text indexes."),
      typos: z.boolean().optional().describe("Also find words that differ by one letter."),
      select,
      include,
      take,
      cursor,
      maxReads: reads,
    }),
    effect: "none",
    rest: fewerRows,
    run: async (open, input, signal) => {
      const found = findModel(open, input.model);
      const options = { ...queryOf(open, found, input), signal };
      return await fittingPage(input.take, async (rowsTaken) => {
        const page = await found.repository.search({ ...options, take: rowsTaken });
        const rows = page.items.map((item) => {
          const { row, score } = item as { readonly row: unknown; readonly score: unknown };
          return jsonOf({ row, score });
        });
        const { count, cursor: next, ignored } = page;
        return { rows, count, cursor: next, ignored };
      });
    },
  }),
  defineTool({
    name: "count",
    title: "Count rows",
    description:
      "Returns { count }: the number of rows of a model, or of those that an index serves. A model or an index with count: true is counted with few reads, others by reading all entries.",
    input: query.omit({ orderBy: true }).extend({ maxReads: reads }),
    effect: "none",
    rest: "",
    run: async (open, input, signal) => {
      const found = findModel(open, input.model);
      const count = await found.repository.count({ ...queryOf(open, found, input), signal });
      return { count };
    },
  }),
];

interface Page {
  readonly rows: readonly unknown[];
  readonly cursor: unknown;
}

/** The space for what a page has besides its rows, in characters. */
const besideRows = 2000;

/**
 * Reads a page whose rows fit into an answer. If they do not, reads a page of fewer rows, so that
 * its cursor continues after the last of them. A single row is returned whatever its size.
 */
async function fittingPage<P extends Page>(
  rows: number,
  read: (take: number) => Promise<P>,
): Promise<P> {
  for (let take = rows; ; ) {
    const page = await read(take);
    const fitting = fittingRows(page.rows);
    if (fitting === page.rows.length || take === 1) return page;
    take = Math.max(1, Math.min(fitting, take - 1));
  }
}

function fittingRows(rows: readonly unknown[]): number {
  let left = maxAnswerLength - besideRows;
  for (const [i, row] of rows.entries()) {
    left -= lengthOf(row) + 1;
    if (left < 0) return i;
  }
  return rows.length;
}
