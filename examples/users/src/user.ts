import { defineModel } from "@keywright/orm";
import * as z from "zod";

/** A model with both indexes of the guide, which the code in `by-hand/` maintains by hand. */
export const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.string(),
    name: z.string(),
    email: z.email(),
    favoriteColor: z.string(),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: "lowercase" },
    byFavoriteColor: { key: "favoriteColor" },
  },
});
