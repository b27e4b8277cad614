import { defineMigration, defineModel } from "@keywright/orm";
import * as z from "zod";

// What the customers of a shop were, release after release. A program has the last of them only; of the earlier ones, the
// schemas that its migrations begin with.

const firstSchema = z.object({
  id: z.ulid(),
  email: z.email(),
  name: z.string(),
  spent: z.string(),
});

/** The first release: money as text, and a copy of the row for each name. */
export const firstCustomer = defineModel({
  name: "customers",
  schema: firstSchema,
  primaryKey: "id",
  indexes: { byNameCopy: { key: "name", store: "copy" } },
});

/** The second: one customer for each email. */
export const secondCustomer = defineModel({
  name: "customers",
  schema: firstSchema,
  primaryKey: "id",
  indexes: {
    byNameCopy: { key: "name", store: "copy" },
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
  },
});

const thirdSchema = z.object({
  id: z.ulid(),
  email: z.email(),
  name: z.string(),
  spentCents: z.int(),
  newsletter: z.boolean().default(false),
});

/** The third: money as a number, by which customers are sorted; and names by pointers, beside the copies. */
export const thirdCustomer = defineModel({
  name: "customers",
  schema: thirdSchema,
  primaryKey: "id",
  indexes: {
    ...secondCustomer.indexes,
    byName: { key: "name" },
    bySpent: { key: "spentCents" },
  },
});

export const moneyIsCents = defineMigration({
  model: thirdCustomer,
  name: "money is cents",
  from: firstSchema,
  to: thirdSchema.omit({ newsletter: true }),
  up: ({ spent, ...customer }) => ({ ...customer, spentCents: Math.round(Number(spent) * 100) }),
  down: ({ spentCents, ...customer }) => ({ ...customer, spent: (spentCents / 100).toFixed(2) }),
});

/** The fourth: without the copies. */
export const fourthCustomer = defineModel({
  name: "customers",
  schema: thirdSchema,
  primaryKey: "id",
  indexes: {
    byEmail: secondCustomer.indexes.byEmail,
    byName: { key: "name" },
    bySpent: { key: "spentCents" },
  },
});
