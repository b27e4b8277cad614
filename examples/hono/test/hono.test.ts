import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { createApp } from "../src/app.js";
import { openDatabase } from "../src/database.js";

async function withApp(test: (app: ReturnType<typeof createApp>) => Promise<void>): Promise<void> {
  await using kv = await openKv();
  await test(createApp(await openDatabase(kv)));
}

const post = (app: ReturnType<typeof createApp>, body: string) =>
  app.request("/rooms/lobby/messages", { method: "POST", body });

it("stores messages, and answers mistakes with their status", () =>
  withApp(async (app) => {
    const created = await post(app, '{ "text": "Hello" }');
    expect(created.status).toBe(201);
    expect((await post(app, '{ "text": "Hello" }')).status).toBe(409);
    expect((await post(app, '{ "text": "" }')).status).toBe(400);
    expect((await post(app, "no JSON")).status).toBe(400);
    expect((await app.request("/rooms/lobby/messages?cursor=changed")).status).toBe(400);
    const page = await (await app.request("/rooms/lobby/messages")).json();
    expect(page).toMatchObject({ items: [{ room: "lobby", text: "Hello" }] });

    const { id } = (await created.json()) as { id: string };
    const remove = () => app.request(`/messages/${id}`, { method: "DELETE" });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
  }));

it("answers 503 with Retry-After when the database is closed", async () => {
  const kv = await openKv();
  const app = createApp(await openDatabase(kv));
  await kv.close();
  const response = await post(app, '{ "text": "Hello" }');
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
});

it("sends the messages of a room while they change, until the client goes away", () =>
  withApp(async (app) => {
    const response = await app.request("/rooms/lobby/live");
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe("data: []\n\n");
    await post(app, '{ "text": "Hello" }');
    expect((await reader.read()).value).toContain('"text":"Hello"');
    await reader.cancel();
  }));
