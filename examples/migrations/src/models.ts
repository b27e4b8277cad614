import { defineMigration, defineModel } from "@keywright/orm";
import * as z from "zod";

// The customer model of a shop in four releases. A real program has only the latest model, and the
// old schemas from which its migrations start.

const firstSchema = z.object({
  id: z.ulid(),
  email: z.email(),
  name: z.string(),
  spent: z.string(),
});

/** Release 1: money is text, and byName stores a copy of each row. */
export const firstCustomer = defineModel({
  name: "customers",
  schema: firstSchema,
  primaryKey: "id",
  indexes: { byName: { key: "name", store: "copy" } },
});

/** Release 2: emails are unique. */
export const secondCustomer = defineModel({
  name: "customers",
  schema: firstSchema,
  primaryKey: "id",
  indexes: {
    ...firstCustomer.indexes,
    byEmail: { key: "email", unique: true, normalize: "lowercase" },
  },
});

const thirdSchema = z.object({
  id: z.ulid(),
  email: z.email(),
  name: z.string(),
  spentCents: z.int(),
  newsletter: z.boolean().default(false),
});

/** Release 3: money is a number, with an index. */
export const thirdCustomer = defineModel({
  name: "customers",
  schema: thirdSchema,
  primaryKey: "id",
  indexes: {
    ...secondCustomer.indexes,
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

/** Release 4: byName stores pointers. */
export const fourthCustomer = defineModel({
  name: "customers",
  schema: thirdSchema,
  primaryKey: "id",
  indexes: {
    ...thirdCustomer.indexes,
    byName: { key: "name" },
  },
});
