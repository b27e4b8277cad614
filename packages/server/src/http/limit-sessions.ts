import { constants, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { TimeLimits } from "./time-limits.js";

/**
 * Ends what takes too long in HTTP/2, which Node.js does in HTTP/1.1 only: connections without a
 * request, whatever else they send, and requests whose body does not end.
 */
export function limitSessions(server: Http2Server, { headers, request, idle }: TimeLimits): void {
  server.on("session", (session) => {
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
