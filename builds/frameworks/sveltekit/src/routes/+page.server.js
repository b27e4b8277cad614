import { httpStatusOf } from "@keywright/orm";
import { fail } from "@sveltejs/kit";
import { database } from "../lib/server/database.js";

export async function load() {
  const db = await database();
  const { items } = await db.users.findMany({ orderBy: { id: "asc" }, take: 20 });
  return { users: items };
}

export const actions = {
  async default({ request }) {
    const form = await request.formData();
    const db = await database();
    try {
      await db.users.create({ data: { name: form.get("name"), email: form.get("email") } });
    } catch (error) {
      return fail(httpStatusOf(error), { message: "This user cannot be added." });
    }
  },
};
