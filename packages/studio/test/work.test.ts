import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { decode } from "../src/protocol/wire.js";
import type { WorkState } from "../src/protocol/work.js";
import { openWork } from "./example-work.js";
import { type OpenStudio, openStudio } from "./open-studio.js";

/** Reads the states that the studio sends. */
async function* statesOf({ base, cookie }: OpenStudio): AsyncGenerator<WorkState> {
  const leaving = new AbortController();
  const headers = { cookie, origin: base.slice(0, -1) };
  const { body } = await fetch(`${base}api/work`, { headers, signal: leaving.signal });
  let text = "";
  try {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1];
        if (data !== undefined && !event.includes("event:")) yield decode<WorkState>(data);
      }
    }
  } finally {
    leaving.abort();
  }
}

it("sends the jobs and crons, and sends them again when they change", async () => {
  const { kv, db } = await openWork();
  const studio = await openStudio({ kv });
  try {
    const states = statesOf(studio);
    const first = (await states.next()).value as WorkState;
    const counts = { name: "send-mail", waiting: 1, delayed: 0, running: 0, failed: 3 };
    expect(first.jobs).toEqual([counts]);
    expect(first.crons).toMatchObject([{ name: "report", schedule: "* * * * * *", failed: 1 }]);
    await db.jobs.sendMail.enqueue({ to: "e" });
    const second = (await states.next()).value as WorkState;
    expect(second.jobs).toEqual([{ ...counts, waiting: 2 }]);
    await states.return(undefined);
  } finally {
    await studio[Symbol.asyncDispose]();
    await kv.close();
  }
});

it("lists failed jobs, lets them wait again and removes them", async () => {
  const { kv, db } = await openWork();
  const studio = await openStudio({ kv });
  const name = "send-mail";
  try {
    const { items, cursor } = await studio.call("failedJobs", { name, cursor: null });
    expect(cursor).toBeNull();
    expect(items).toMatchObject([
      { attempts: 1, payload: { to: "a" }, error: "Error: No mailbox a" },
      { payload: { to: "<b>b</b>" } },
      { payload: { to: "c" } },
    ]);
    const [first] = items;
    expect(await studio.call("retryJobs", { name, id: first!.id })).toEqual({
      count: 1,
      skipped: 0,
    });
    expect(await studio.call("discardJobs", { name, id: null })).toEqual({ count: 2 });
    expect(await db.jobs.sendMail.counts()).toMatchObject({ waiting: 2, failed: 0 });
    const other = await studio.call("failedJobs", { name: "other", cursor: null });
    expect(other).toEqual({ items: [], cursor: null });
  } finally {
    await studio[Symbol.asyncDispose]();
    await kv.close();
  }
});

it("changes nothing in a database that is shown only, or that has no jobs", async () => {
  const { kv, db } = await openWork();
  const readOnly = await openStudio({ kv, readOnly: true });
  for (const call of ["retryJobs", "discardJobs"] as const)
    await expect(readOnly.call(call, { name: "send-mail", id: null })).rejects.toBeDefined();
  expect(await db.jobs.sendMail.counts()).toMatchObject({ failed: 3 });
  await readOnly[Symbol.asyncDispose]();
  await kv.close();

  await using empty = await openKv();
  const studio = await openStudio({ kv: empty });
  const states = statesOf(studio);
  expect((await states.next()).value).toEqual({ jobs: [], crons: [] });
  await states.return(undefined);
  await studio.call("retryJobs", { name: "send-mail", id: null });
  for await (const { key } of empty.list({ prefix: [] })) expect(key).toBeUndefined();
  await studio[Symbol.asyncDispose]();
});
