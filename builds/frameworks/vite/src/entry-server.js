import { json } from "node:stream/consumers";
import { httpStatusOf } from "@keywright/orm";
import { db } from "./database.js";

/** Answers `POST` with a new user, and everything else with a page that is rendered here. */
export async function handle(request, response) {
  try {
    if (request.method === "POST") {
      const user = await db.users.create({ data: await json(request) });
      response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(user));
      return;
    }
    const { items } = await db.users.findMany({ orderBy: { id: "asc" }, take: 20 });
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page(items));
  } catch (error) {
    const status = error instanceof SyntaxError ? 400 : httpStatusOf(error);
    if (status === 500) console.error(error);
    response.writeHead(status, status === 503 ? { "retry-after": "1" } : {}).end();
  }
}

function page(users) {
  const items = users.map(({ name }) => `<li>${escaped(name)}</li>`);
  return `<!doctype html><html lang="en"><title>Users</title><ul>${items.join("")}</ul></html>`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
