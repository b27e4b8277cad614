import { openKv } from "@keywright/core";
import { defineCron, runCrons } from "@keywright/cron";
import { createDatabase, defineJob } from "@keywright/orm";
import { expect } from "vitest";
import * as z from "zod";

const SendMail = defineJob({
  name: "send-mail",
  schema: z.object({ to: z.string() }),
  retry: { attempts: 1 },
});

/** A database with three failed jobs, one that waits, and a cron whose last tick was given up. */
export async function openWork() {
  const kv = await openKv();
  const db = await createDatabase({ kv, models: {}, jobs: { sendMail: SendMail } });
  await db.jobs.sendMail.enqueueMany(["a", "<b>b</b>", "c"].map((to) => ({ to })));
  const fail = ({ payload }: { payload: { to: string } }) => {
    throw new Error(`No mailbox ${payload.to}`);
  };
  const worker = db.work({ sendMail: fail }, { onError: () => undefined });
  await expect.poll(async () => (await db.jobs.sendMail.counts()).failed).toBe(3);
  await worker.stop();
  await db.jobs.sendMail.enqueue({ to: "d" });
  const stop = new AbortController();
  let isGivenUp = false;
  const report = defineCron({
    name: "report",
    schedule: "* * * * * *",
    backoffSchedule: [],
    handler: () => {
      if (isGivenUp) return;
      isGivenUp = true;
      throw new Error("No paper");
    },
  });
  await runCrons(kv, [report], { signal: stop.signal, onError: () => stop.abort() });
  return { kv, db };
}
