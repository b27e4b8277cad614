import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { encodeValues } from "../protocol/encode-values.js";
import type { Source } from "../source/source.js";
import { studioError } from "../source/studio-error.js";
import { workOf, workPrefixes } from "../source/work.js";

/** Milliseconds between two events at least, and at most. */
const [shortestPause, longestPause] = [250, 5000];
/** Milliseconds between two looks at a database that reports no changes. */
const pollPause = 2000;

/** Sends the counts of jobs and the crons as events, now and when they change. */
export function workStream(context: Context, source: Source, ending: AbortSignal): Response {
  return streamSSE(context, async (stream) => {
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    stream.onAbort(leave);
    ending.addEventListener("abort", leave, { once: true });
    const { signal } = leaving;
    const changes = source
      .watchRange?.(workPrefixes.map((prefix) => ({ prefix: [...prefix] })))
      .getReader();
    let changed = changes?.read();
    let last = "";
    try {
      while (!signal.aborted) {
        const state = encodeValues(await workOf(source));
        // An event also shows the page that the studio is there.
        await stream.writeSSE(state === last ? { event: "alive", data: "" } : { data: state });
        last = state;
        await sleep(changed ? shortestPause : pollPause, undefined, { signal });
        if (changed === undefined) continue;
        const timeout = sleep(longestPause, "timeout" as const, { signal });
        const first = await Promise.race([changed, timeout]);
        if (first === "timeout") continue;
        if (first.done) return;
        changed = changes!.read();
      }
    } catch (error) {
      if (!signal.aborted)
        await stream.writeSSE({ event: "failed", data: encodeValues(studioError(source, error)) });
    } finally {
      leave();
      ending.removeEventListener("abort", leave);
      await changes?.cancel().catch(() => undefined);
    }
  });
}
