import * as z from "zod";
import { queryOf } from "../values/query-of.js";
import { describeModel, summarizeModel } from "./describe-model.js";
import { findModel } from "./find-model.js";
import { defineTool, type Tool } from "./tool.js";

/** How many rows `find` returns if the client does not say it, and at most. */
const defaultRows = 20;
const maxRows = 200;

/** The maximum number of entries that a call reads, so that no call reads a whole database. */
const maxReads = 20_000;

const model = z.string().describe("The name of a model, as the tool models lists it.");
const where = z
  .record(z.string(), z.unknown())
  .optional()
  .describe(
    'Conditions on the first fields of an index: a value, { in: [...] }, and for the last field a range with gt, gte, lt, lte, between or startsWith; { has: element } for lists; OR with a list of these. Dates are ISO 8601. { "$": "12n" } is a bigint, { "$": "b64:AQID" } bytes.',
  );
const orderBy = z
  .unknown()
  .optional()
  .describe('{ field: "asc" } or { field: "desc" }, or a list of these, that an index serves.');
const index = z
  .string()
  .optional()
  .describe("The name of the index. Needed if the index may lack some of the rows.");

const query = z.strictObject({ model, where, orderBy, index });

/** The tools that read models and rows. */
export const readTools: readonly Tool[] = [
  defineTool({
    name: "models",
    title: "Models",
    description:
      "Lists the models with their fields, primary keys, indexes and relations. With a model, describes this one in detail, with the types of its fields and the states of its indexes.",
    input: z.strictObject({ model: model.optional() }),
    effect: "none",
    run: async (open, input) => {
      if (input.model === undefined) return { models: open.models.map(summarizeModel) };
      return await describeModel(open, findModel(open, input.model));
    },
  }),
  defineTool({
    name: "explain",
    title: "Explain a query",
    description:
      "Shows which index serves a query, the ranges of keys and the maximum number of reads, without reading rows. If no index serves it, the error names the index to add to the model.",
    input: query.extend({ take: z.int().positive().optional() }),
    effect: "none",
    run: async (open, input) => {
      const found = findModel(open, input.model);
      return await found.repository.explain(queryOf(open, found, input));
    },
  }),
  defineTool({
    name: "find",
    title: "Find rows",
    description: `Returns rows that an index serves, at most ${maxRows}, and a cursor for the next page, or null. Without where and orderBy, returns rows in the order of the primary key.`,
    input: query.extend({
      select: z
        .record(z.string(), z.literal(true))
        .optional()
        .describe("The fields to return: { name: true }. All fields if absent."),
      include: z
        .record(z.string(), z.unknown())
        .optional()
        .describe("The relations to load: { author: true }, or a query for each relation."),
      take: z.int().positive().max(maxRows).default(defaultRows),
      cursor: z.string().optional().describe("The cursor of the page before."),
      withVersionstamp: z
        .boolean()
        .optional()
        .describe("Return { row, versionstamp }. A write can check the versionstamp."),
    }),
    effect: "none",
    run: async (open, input, signal) => {
      const found = findModel(open, input.model);
      const options = { ...queryOf(open, found, input), maxReads, signal };
      const { where: given, orderBy: order, index: named } = input;
      const isWhole = given === undefined && order === undefined && named === undefined;
      const { repository } = found;
      const page = isWhole ? repository.scan(options) : repository.findMany(options);
      const { items, cursor } = await page;
      return { rows: items, cursor };
    },
  }),
  defineTool({
    name: "count",
    title: "Count rows",
    description: "Counts the rows of a model, or those that an index serves.",
    input: query.omit({ orderBy: true }),
    effect: "none",
    run: async (open, input, signal) => {
      const found = findModel(open, input.model);
      const count = await found.repository.count({
        ...queryOf(open, found, input),
        maxReads,
        signal,
      });
      return { count };
    },
  }),
];
