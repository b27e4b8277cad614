import { RequestError } from "./request-error.js";

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

export interface KnownHosts {
  /** The names by which clients may call the server. Undefined allows all. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** The web pages that may call the server. */
  readonly origins: ReadonlySet<string>;
}

/** A server that listens only to its own machine is called only by the names of this machine. */
export function knownHosts(
  address: string,
  hosts: readonly string[] | undefined,
  origins: readonly string[],
): KnownHosts {
  const isLocal = isLoopback(address);
  const known = hosts === undefined && !isLocal ? undefined : new Set([...(hosts ?? [])]);
  if (isLocal) for (const name of loopback) known?.add(name);
  return { hosts: known, origins: new Set(origins) };
}

export function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || address.startsWith("127.");
}

/**
 * Refuses requests of web pages, also of those whose name was pointed to this machine.
 *
 * @throws {RequestError} if the host or the origin is not known.
 */
export function assertKnownHost(
  { hosts, origins }: KnownHosts,
  host: string | undefined,
  origin: string | undefined,
): void {
  if (origin !== undefined && !origins.has(origin))
    throw new RequestError(403, "Web pages of this origin may not call this server.");
  const name = (host ?? "").replace(/:\d+$/, "").toLowerCase();
  if (hosts !== undefined && !hosts.has(name))
    throw new RequestError(403, "This server is not called by this host name.");
}
