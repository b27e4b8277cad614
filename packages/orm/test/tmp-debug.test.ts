import { openKv } from "@keywright/core";
import { it } from "vitest";
import { beginTransform, contextOf, fillOld, openNew, runTransform } from "./transform-models.js";
it("x", async () => {
  const kv = await openKv();
  let last = process.cpuUsage();
  const say = (s: string) => { const d = process.cpuUsage(last); last = process.cpuUsage(); console.log(s, Math.round((d.user + d.system) / 1000), "ms cpu"); };
  for (const n of [300, 3000]) {
  await fillOld(kv, n).catch(() => {}); say("filled");
  }
  const db = await openNew(kv); say("open");
  const context = contextOf(db, "members");
  await beginTransform(context); say("begun");
  console.log(await runTransform(context, { onProgress: (p) => say(p.phase + p.rowsDone) }));
  say("ran");
}, 60000);
