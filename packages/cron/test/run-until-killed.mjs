// Runs a cron at each second until it is killed: `run-until-killed.mjs FOLDER LEASE SKEW`. Its
// clock is wrong by SKEW milliseconds. It notes when each attempt begins, and when it ends.
import { setTimeout as sleep } from "node:timers/promises";
import { openKv } from "@keywright/core";
import { defineCron, runCrons } from "../dist/index.js";

const [folder, lease, skew] = process.argv.slice(2);
const clock = Date.now;
Date.now = () => clock() + Number(skew);

const kv = await openKv(folder);
const cron = defineCron({
  name: "every second",
  schedule: "* * * * * *",
  missed: "catchUpAll",
  mostMissed: 1000,
  backoffSchedule: Array(50).fill(50),
  handler: async ({ tick, attempt, completion }) => {
    const begin = clock();
    await kv.set(["begun", tick.getTime(), attempt, process.pid], begin);
    await sleep(Math.random() * 400);
    completion.sum(["times", tick.getTime()], 1n);
    completion.set(["ended", tick.getTime(), attempt, process.pid], { begin, end: clock() });
  },
});
process.on("disconnect", () => process.exit());
await runCrons(kv, [cron], { lease: Number(lease), onError: () => undefined });
