import {
  constants,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TimeLimits } from "./time-limits.js";

/** A client is asked for a sign of life three times in this time, in milliseconds. */
const longestSilence = 15_000;
const asks = 3;

/**
 * Ends what takes too long in HTTP/2, which Node.js does in HTTP/1.1 only: connections without a
 * request, whatever else they send, and requests whose body does not end. Also ends connections
 * whose client is gone without a word, although a watch may last for ever.
 */
export function limitSessions(
  server: Http2Server,
  { headers, request, idle }: TimeLimits,
  silence: number = longestSilence,
): void {
  server.on("session", (session) => {
    endIfSilent(session, silence / asks);
    let streams = 0;
    let timer: NodeJS.Timeout | undefined;
    const endIn = (milliseconds: number) => {
      timer = setTimeout(() => session.destroy(), milliseconds).unref();
    };
    endIn(headers);
    session.once("close", () => clearTimeout(timer));
    session.on("stream", (stream: ServerHttp2Stream) => {
      clearTimeout(timer);
      streams++;
      limitBody(stream, request);
      stream.once("close", () => {
        streams--;
        if (streams === 0 && !session.destroyed) endIn(idle);
      });
    });
  });
}

/** Counts asks, not milliseconds: a server that was itself busy first reads what has arrived. */
function endIfSilent(session: ServerHttp2Session, interval: number): void {
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered >= asks) {
      session.destroy();
      return;
    }
    unanswered++;
    session.ping((error) => {
      if (error === null) unanswered = 0;
    });
  }, interval);
  timer.unref();
  session.once("close", () => clearInterval(timer));
}

function limitBody(stream: ServerHttp2Stream, milliseconds: number): void {
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    if (!stream.headersSent) stream.respond({ ":status": 408 }, { endStream: true });
    stream.close(constants.NGHTTP2_NO_ERROR);
  }, milliseconds).unref();
  const stop = () => clearTimeout(timer);
  stream.once("end", stop);
  stream.once("close", stop);
}
