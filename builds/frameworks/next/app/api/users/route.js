import { httpStatusOf } from "@keywright/orm";
import { database } from "../../../lib/database.js";

export async function POST(request) {
  try {
    const db = await database();
    const user = await db.users.create({ data: await request.json() });
    return Response.json(user, { status: 201 });
  } catch (error) {
    const status = error instanceof SyntaxError ? 400 : httpStatusOf(error);
    if (status === 500) console.error(error);
    return new Response(null, { status, headers: status === 503 ? { "retry-after": "1" } : {} });
  }
}
