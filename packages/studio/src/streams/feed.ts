import type { Kv } from "@keywright/core";
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { encodeValues } from "../protocol/encode-values.js";
import { feedCommit } from "../source/feed-commit.js";
import type { Source } from "../source/source.js";
import { studioError } from "../source/studio-error.js";

/** Milliseconds between events that keep the connection open. */
const heartbeat = 5000;

/**
 * Sends the commits of the log after a versionstamp as events, until the page closes. A page that
 * connects again says which event it has got last.
 */
export function feedStream(context: Context, source: Source, ending: AbortSignal): Response {
  const { changes } = source.kv as Kv;
  if (changes === undefined) return context.text("This database keeps no log.", 404);
  const property = context.req.query("property") ?? null;
  const after = context.req.header("last-event-id") || context.req.query("after") || undefined;
  return streamSSE(context, async (stream) => {
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    stream.onAbort(leave);
    ending.addEventListener("abort", leave, { once: true });
    const beat = () => void stream.writeSSE({ event: "alive", data: "" }).catch(() => undefined);
    const timer = setInterval(beat, heartbeat).unref();
    try {
      for await (const commit of changes.call(source.kv, { after, signal: leaving.signal })) {
        const found = feedCommit(source, commit, property);
        if (found === undefined) continue;
        await stream.writeSSE({ id: commit.versionstamp, data: encodeValues(found) });
      }
    } catch (error) {
      if (leaving.signal.aborted) return;
      await stream.writeSSE({ event: "failed", data: encodeValues(studioError(source, error)) });
    } finally {
      clearInterval(timer);
      ending.removeEventListener("abort", leave);
    }
  });
}
