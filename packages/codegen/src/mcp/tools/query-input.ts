import * as z from "zod";

/** How many rows a page has if the client does not say it, and at most. */
const defaultRows = 20;
export const maxRows = 200;

/** How many entries a call reads if the client does not say it, and at most. */
const defaultReads = 20_000;
const maxReads = 500_000;

/** The arguments that several tools have. */
export const model: z.ZodString = z
  .string()
  .describe("The name of a model, as the tool models lists it.");

export const where: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodUnknown>> = z
  .record(z.string(), z.unknown())
  .optional()
  .describe(
    'Conditions on the first fields of an index: { field: value } or { field: { in: [...] } }; for the last of them also { gt, gte, lt, lte }, { between: [a, b] } or { startsWith: "a" }. { has: element } for a list, { OR: [{...}, {...}] }. Dates are texts in ISO 8601, bigints { "$": "12n" }, bytes { "$": "b64:AQID" }.',
  );

export const orderBy: z.ZodOptional<z.ZodUnknown> = z
  .unknown()
  .optional()
  .describe('{ field: "asc" } or { field: "desc" }, or a list of these, that an index serves.');

export const index: z.ZodOptional<z.ZodString> = z
  .string()
  .optional()
  .describe("The name of the index. Needed if the index may lack some of the rows.");

export const take: z.ZodDefault<z.ZodInt> = z
  .int()
  .positive()
  .max(maxRows)
  .default(defaultRows)
  .describe(`The number of rows, at most ${maxRows}.`);

export const cursor: z.ZodOptional<z.ZodString> = z
  .string()
  .optional()
  .describe(
    "The cursor of the page before, with the same model and the same other arguments but take.",
  );

export const select: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodLiteral<true>>> = z
  .record(z.string(), z.literal(true))
  .optional()
  .describe("The fields to return: { name: true }. All fields if absent.");

export const include: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodUnknown>> = z
  .record(z.string(), z.unknown())
  .optional()
  .describe(
    "The relations to load: { author: true }, or a query for each: { posts: { take: 3 } }.",
  );

export const reads: z.ZodDefault<z.ZodInt> = z
  .int()
  .positive()
  .max(maxReads)
  .default(defaultReads)
  .describe(`The maximum number of entries to read, up to ${maxReads}.`);
