import type { ChangedKeys } from "../../src/protocol/protocol.js";
import { decode } from "../../src/protocol/wire.js";

/**
 * Calls `onChange` with the keys of changed rows of a model, or with null if they are not known.
 * Returns a function that ends this.
 */
export function watchChanges(property: string, onChange: (keys: ChangedKeys) => void): () => void {
  let source: EventSource | undefined;
  // What changes while there is no connection is lost.
  let hasMissed = false;
  const open = () => {
    source = new EventSource(`/api/changes?property=${encodeURIComponent(property)}`);
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
    document.removeEventListener("visibilitychange", onVisibility);
    close();
  };
}
