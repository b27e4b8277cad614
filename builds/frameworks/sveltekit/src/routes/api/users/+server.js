import { httpStatusOf } from "@keywright/orm";
import { json } from "@sveltejs/kit";
import { database } from "../../../lib/server/database.js";

export async function POST({ request }) {
  try {
    const db = await database();
    return json(await db.users.create({ data: await request.json() }), { status: 201 });
  } catch (error) {
    const status = error instanceof SyntaxError ? 400 : httpStatusOf(error);
    if (status === 500) console.error(error);
    return new Response(null, { status, headers: status === 503 ? { "retry-after": "1" } : {} });
  }
}
