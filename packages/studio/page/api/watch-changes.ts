import type { ChangedKeys } from "../../src/protocol/rows.js";
import { decode } from "../../src/protocol/wire.js";

/** Milliseconds between the signs of life of a studio, and how many of them may be missing. */
const heartbeat = 5000;
const mostMissing = 3;

/**
 * Calls `onChange` with the keys of changed rows of a model, or with null if they are not known.
 * A studio that shows no sign of life may have missed some. Returns a function that ends this.
 */
export function watchChanges(property: string, onChange: (keys: ChangedKeys) => void): () => void {
  let source: EventSource | undefined;
  // What changes while there is no connection is lost.
  let hasMissed = false;
  let silence = 0;
  const open = () => {
    silence = 0;
    source = new EventSource(`/api/changes?property=${encodeURIComponent(property)}`);
    source.addEventListener("alive", () => {
      silence = 0;
    });
    source.onmessage = (event) => onChange(decode<ChangedKeys>(String(event.data)));
    source.onerror = () => {
      hasMissed = true;
      if (source?.readyState === EventSource.CLOSED) onChange(null);
    };
    source.onopen = () => {
      if (hasMissed) onChange(null);
      hasMissed = false;
    };
  };
  const close = () => source?.close();
  const timer = setInterval(() => {
    if (document.hidden || ++silence <= mostMissing) return;
    close();
    hasMissed = true;
    onChange(null);
    open();
  }, heartbeat);
  // A browser has few connections to a host. Pages in the background leave them to the others.
  const onVisibility = () => {
    close();
    if (document.hidden) hasMissed = true;
    else open();
  };
  document.addEventListener("visibilitychange", onVisibility);
  if (document.hidden) hasMissed = true;
  else open();
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", onVisibility);
    close();
  };
}
