import type { StudioError } from "../../src/protocol/studio-error.js";
import { decode } from "../../src/protocol/wire.js";

interface Watched<Message> {
  /** Returns the address, each time that the page connects. */
  readonly url: () => string;
  /** @param id the `id` of the event. */
  readonly onMessage: (message: Message, id: string) => void;
  readonly onFailure: (error: StudioError) => void;
}

/**
 * Receives events while the page is visible, because a browser has few connections to a host. It
 * connects again by itself. Returns a function that ends this.
 */
export function watchEvents<Message>({ url, onMessage, onFailure }: Watched<Message>): () => void {
  let source: EventSource | undefined;
  const open = () => {
    source = new EventSource(url());
    source.onmessage = ({ data, lastEventId }) =>
      onMessage(decode<Message>(String(data)), lastEventId);
    source.addEventListener("failed", (event) => {
      source?.close();
      onFailure(decode<StudioError>(String(event.data)));
    });
  };
  const onVisibility = () => {
    source?.close();
    if (!document.hidden) open();
  };
  document.addEventListener("visibilitychange", onVisibility);
  if (!document.hidden) open();
  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    source?.close();
  };
}
