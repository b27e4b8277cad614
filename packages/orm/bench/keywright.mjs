// The benchmark's users as a model of @keywright/orm.
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";
import { usersPerColor } from "./rows.mjs";

export const userSchema = z.object({
  id: z.ulid(),
  name: z.string(),
  email: z.email(),
  favoriteColor: z.string(),
  age: z.int(),
  createdAt: z.date(),
});

const User = defineModel({
  name: "users",
  schema: userSchema,
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true },
    byFavoriteColor: { key: "favoriteColor" },
  },
});

/** Opens a database of users through the ORM. */
export async function openKeywright(path, durability) {
  const kv = await openKv(path, { durability });
  const db = await createDatabase({ kv, models: { users: User } });
  return {
    load: async (users) => {
      for (let from = 0; from < users.length; from += 500)
        await Promise.all(users.slice(from, from + 500).map((data) => db.users.create({ data })));
    },
    create: (data) => db.users.create({ data }),
    findById: (id) => db.users.findUnique({ where: { id } }),
    findByEmail: (email) => db.users.findUnique({ where: { email } }),
    findByColor: async (favoriteColor) =>
      (await db.users.findMany({ where: { favoriteColor }, take: usersPerColor })).items,
    changeColor: (id, favoriteColor) => db.users.update({ where: { id }, data: { favoriteColor } }),
    close: () => kv.close(),
  };
}
