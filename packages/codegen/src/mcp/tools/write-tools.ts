import * as z from "zod";
import { dataOf, uniqueOf, updateOf } from "../values/query-of.js";
import { findModel } from "./find-model.js";
import { model } from "./query-input.js";
import { defineTool, type Tool } from "./tool.js";

const where = z
  .record(z.string(), z.unknown())
  .describe("A value for each field of the primary key, or of a unique index.");
const ifVersion = z
  .string()
  .optional()
  .describe("The versionstamp that the row must have. If it has another one, nothing is written.");
const data = z.record(z.string(), z.unknown());
const rest = "The row was written. Read it with find and select.";

/** The tools that change one row. The models' rules, hooks and cascades apply. */
export const writeTools: readonly Tool[] = [
  defineTool({
    name: "create",
    title: "Create a row",
    description:
      'Creates a row: { row, versionstamp }. Dates are texts in ISO 8601, bigints { "$": "12n" }, bytes { "$": "b64:AQID" }.',
    input: z.strictObject({
      model,
      data: data.describe("The fields of the row, each with its value."),
    }),
    effect: "adds",
    rest,
    run: async (open, input) => {
      const found = findModel(open, input.model);
      return await found.repository.create({
        data: dataOf(found, input.data),
        withVersionstamp: true,
      });
    },
  }),
  defineTool({
    name: "update",
    title: "Update a row",
    description:
      "Changes fields of one row: { row, versionstamp }. Fields that data does not name stay as they are.",
    input: z.strictObject({
      model,
      where,
      data: data.describe(
        "The fields to change, each with a value or an operation: { increment: 1 }, { push: element }, { unset: true }, { set: value }. { set: value } is always the value, so write { set: { set: 1 } } for the object { set: 1 }.",
      ),
      ifVersion,
    }),
    effect: "changes",
    rest,
    run: async (open, input) => {
      const found = findModel(open, input.model);
      return await found.repository.update({
        where: uniqueOf(found, input.where),
        data: updateOf(found, input.data),
        ifVersion: input.ifVersion,
        withVersionstamp: true,
      });
    },
  }),
  defineTool({
    name: "delete",
    title: "Delete a row",
    description:
      "Deletes one row, and the rows that its relations delete with it: { deleted }, the row as it was.",
    input: z.strictObject({ model, where, ifVersion }),
    effect: "changes",
    rest: "The row was deleted.",
    run: async (open, input) => {
      const found = findModel(open, input.model);
      const options = { where: uniqueOf(found, input.where), ifVersion: input.ifVersion };
      return { deleted: await found.repository.delete(options) };
    },
  }),
];
