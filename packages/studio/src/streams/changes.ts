import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { encodeValues } from "../protocol/encode-values.js";
import type { ChangedKeys } from "../protocol/rows.js";
import { keyOfParts } from "../source/row-key.js";
import { modelOf, type Source } from "../source/source.js";

/** Milliseconds between events that show the page that the studio is there. */
const heartbeat = 5000;

/** Sends the primary keys of the rows of a model that change, as events, until the page closes. */
export function changesStream(context: Context, source: Source, ending: AbortSignal): Response {
  const { model } = modelOf(source, context.req.query("property") ?? "");
  const { watchRange } = source;
  if (watchRange === undefined) return context.text("This database reports no changes.", 404);
  return streamSSE(context, async (stream) => {
    const reader = watchRange([{ prefix: [model.prefix] }]).getReader();
    const cancel = () => void reader.cancel().catch(() => undefined);
    stream.onAbort(cancel);
    ending.addEventListener("abort", cancel, { once: true });
    // An event of its own, because a page does not see comments.
    const beat = () => void stream.writeSSE({ event: "alive", data: "" }).catch(() => undefined);
    const timer = setInterval(beat, heartbeat).unref();
    try {
      await stream.writeSSE({ event: "open", data: "" });
      for (;;) {
        const { done, value } = await reader.read();
        if (done || stream.aborted) return;
        const keys: ChangedKeys = value.isComplete
          ? value.keys.map((key) => keyOfParts(model, key.slice(1)))
          : null;
        await stream.writeSSE({ data: encodeValues(keys) });
      }
    } finally {
      clearInterval(timer);
      ending.removeEventListener("abort", cancel);
      cancel();
    }
  });
}
