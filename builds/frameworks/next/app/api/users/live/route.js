import { database } from "../../../../lib/database.js";

const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());

// The live query ends when the client goes away, which aborts `request.signal`, or the server stops.
export async function GET(request) {
  const db = await database();
  const signal = AbortSignal.any([request.signal, stopping.signal]);
  const states = db.users.watchMany({ orderBy: { id: "asc" }, take: 20, signal });
  const events = ReadableStream.from(eventsOf(states)).pipeThrough(new TextEncoderStream());
  return new Response(events, { headers: { "content-type": "text/event-stream" } });
}

async function* eventsOf(states) {
  for await (const users of states) yield `data: ${JSON.stringify(users)}\n\n`;
  console.log("a live query has ended");
}
