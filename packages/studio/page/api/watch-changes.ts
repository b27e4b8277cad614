import type { ChangedKeys } from "../../src/protocol/protocol.js";
import { decode } from "../../src/protocol/wire.js";

/**
 * Calls `onChange` with the keys of changed rows of a model, or with null if they are not known.
 * Returns a function that ends this.
 */
export function watchChanges(property: string, onChange: (keys: ChangedKeys) => void): () => void {
  const source = new EventSource(`/api/changes?property=${encodeURIComponent(property)}`);
  let hasFailed = false;
  source.onmessage = (event) => onChange(decode<ChangedKeys>(String(event.data)));
  source.onerror = () => {
    hasFailed = true;
  };
  source.onopen = () => {
    // What changed while there was no connection is lost.
    if (hasFailed) onChange(null);
    hasFailed = false;
  };
  return () => source.close();
}
