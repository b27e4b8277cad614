import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { createConnection, type Socket } from "node:net";
import { resolve } from "node:path";
import type { Connect } from "../../engine/remote/client/link.js";
import { EngineUnavailableError, InvalidOptionError } from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";
import { connectInFolder } from "./own/folder-socket.js";
import { socketScheme } from "./where.js";

/** How long a server may take to accept a connection, in milliseconds. */
const connectTimeout = 10_000;

/**
 * Returns a function that connects to the server at an address: the URL of `@keywright/server`, or
 * `unix:` and the path of a folder or of its socket.
 *
 * @throws {InvalidOptionError} if the URL is not valid or there is no token.
 */
export function connectTo(address: string, token: string | undefined): Connect {
  if (address.startsWith(socketScheme)) {
    const path = resolve(address.slice(socketScheme.length));
    return () => orUnavailable(address, () => connectAt(path));
  }
  if (!URL.canParse(address))
    throw new InvalidOptionError("where", "must be a valid URL", "openKv");
  const own = token ?? process.env.KEYWRIGHT_TOKEN ?? process.env.DENO_KV_ACCESS_TOKEN;
  if (own === undefined) {
    const reason = "must be given for a URL, or in the variable KEYWRIGHT_TOKEN of the environment";
    throw new InvalidOptionError("token", reason, "openKv");
  }
  return () => orUnavailable(address, () => upgraded(new URL(address), own));
}

async function connectAt(path: string): Promise<Socket> {
  return path.endsWith(".sock") ? await connected(path) : await connectInFolder(path);
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolveWith, reject) => {
    const socket = createConnection(path, () => resolveWith(socket));
    socket.once("error", reject);
  });
}

/** Opens a connection by HTTP, which is then used for the protocol of attached processes. */
function upgraded(url: URL, token: string): Promise<Socket> {
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolveWith, reject) => {
    const path = `${url.pathname.replace(/\/$/, "")}/attach`;
    const call = request(new URL(path, url), {
      agent: false,
      timeout: connectTimeout,
      headers: {
        authorization: `Bearer ${token}`,
        connection: "Upgrade",
        upgrade: "keywright",
      },
    });
    call.once("error", reject);
    call.once("timeout", () => call.destroy(new Error("the server does not answer")));
    call.once("upgrade", (_response, socket, head) => {
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolveWith(socket as Socket);
    });
    call.once("response", (response) => {
      response.resume();
      const { statusCode } = response;
      reject(
        statusCode === 401
          ? new InvalidOptionError("token", "is not one of the server", "openKv")
          : new Error(`the server refused the connection with status ${statusCode}`),
      );
    });
    call.end();
  });
}

async function orUnavailable<T>(address: string, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    if (isKeywrightError(error)) throw error;
    throw new EngineUnavailableError(
      `it cannot be reached at ${address}`,
      "Start it, or correct the address",
      error,
    );
  }
}
