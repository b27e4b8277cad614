import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";

/** The protocol of `openKv(url)`. */
const ownProtocol = "keywright";

/**
 * True if a request asks for the protocol of this server, and not for another one such as `h2c`.
 */
export function isOwnUpgrade({ headers }: IncomingMessage): boolean {
  const protocols = (headers.upgrade ?? "").split(",");
  return protocols.some((each) => each.trim().toLowerCase() === ownProtocol);
}

/**
 * Returns the bytes of a request as if it had asked for no upgrade, because HTTP lets a server
 * ignore protocols that it does not know.
 *
 * @param head what has arrived after the headers.
 */
export function withoutUpgrade(request: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!;
    let value = request.rawHeaders[i + 1]!;
    if (name.toLowerCase() === "upgrade") continue;
    if (name.toLowerCase() === "connection") value = otherOptions(value);
    lines.push(`${name}: ${value}`);
  }
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]);
}

function otherOptions(connection: string): string {
  const options = connection.split(",").map((option) => option.trim());
  return options.filter((option) => !/^(upgrade|http2-settings)$/i.test(option)).join(", ");
}
