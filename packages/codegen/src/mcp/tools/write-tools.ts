import * as z from "zod";
import { dataOf, uniqueOf } from "../values/query-of.js";
import { findModel } from "./find-model.js";
import { defineTool, type Tool } from "./tool.js";

const model = z.string().describe("The name of a model, as the tool models lists it.");
const where = z
  .record(z.string(), z.unknown())
  .describe("Values for all fields of the primary key, or of a unique index.");
const ifVersion = z
  .string()
  .optional()
  .describe("The versionstamp that the row must have. If it has another one, nothing is written.");
const data = z.record(z.string(), z.unknown());

/** The tools that change one row. The models' rules, hooks and cascades apply. */
export const writeTools: readonly Tool[] = [
  defineTool({
    name: "create",
    title: "Create a row",
    description: "Creates a row, and returns it with its versionstamp.",
    input: z.strictObject({ model, data: data.describe("The fields of the row.") }),
    effect: "adds",
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
    description: "Changes fields of one row, and returns it with its versionstamp.",
    input: z.strictObject({
      model,
      where,
      data: data.describe(
        "The fields to change: a value, or an operation such as { increment: 1 } or { unset: true }.",
      ),
      ifVersion,
    }),
    effect: "changes",
    run: async (open, input) => {
      const found = findModel(open, input.model);
      return await found.repository.update({
        where: uniqueOf(found, input.where),
        data: dataOf(found, input.data),
        ifVersion: input.ifVersion,
        withVersionstamp: true,
      });
    },
  }),
  defineTool({
    name: "delete",
    title: "Delete a row",
    description:
      "Deletes one row, and the rows that its relations delete with it. Returns the deleted row.",
    input: z.strictObject({ model, where, ifVersion }),
    effect: "changes",
    run: async (open, input) => {
      const found = findModel(open, input.model);
      const options = { where: uniqueOf(found, input.where), ifVersion: input.ifVersion };
      return { deleted: await found.repository.delete(options) };
    },
  }),
];
