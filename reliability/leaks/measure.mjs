import { existsSync, readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openViews } from "./open-views.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

/** What grows from one measurement to a later one, in words. Empty if nothing leaks. */
export function growth(before, after) {
  // An engine keeps the keys of its latest commits, until they are 8 MiB.
  const limits = { heap: 2_000_000, files: 0, resources: 0, disk: 8_000_000 };
  const grown = Object.entries(limits)
    .filter(([name, limit]) => after[name] - before[name] > limit)
    .map(([name]) => `${name} grew from ${before[name]} to ${after[name]}`);
  return after.views === 0 ? grown : [...grown, `views are open: ${after.views}`];
}

/** Collects the garbage, and returns what the process holds. */
export async function measure(calls) {
  // Finalizers run in later turns, and release what the next collection finds.
  for (let i = 0; i < 6; i++) {
    collect();
    await delay(10);
  }
  return {
    heap: process.memoryUsage().heapUsed,
    files: existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0,
    resources: process.getActiveResourcesInfo().length,
    disk: await calls.bytesOnDisk(),
    views: openViews(),
  };
}
