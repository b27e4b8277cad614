import type { IncomingMessage } from "node:http";
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
  publicUrl: string | undefined,
  origins: readonly string[],
): KnownHosts {
  const isLocal = isLoopback(address);
  const known = hosts === undefined && !isLocal ? undefined : new Set([...(hosts ?? [])]);
  if (isLocal) for (const name of loopback) known?.add(name);
  if (publicUrl !== undefined) known?.add(new URL(publicUrl).hostname);
  return { hosts: known, origins: new Set(origins) };
}

export function isLoopback(address: string): boolean {
  return loopback.has(address) || address === "::1" || /^127(\.\d+){3}$/.test(address);
}

/** The host, and the port if it is not the default, by which a request calls the server. */
export function hostOf({ headers }: IncomingMessage): string | undefined {
  const authority = headers[":authority"];
  return typeof authority === "string" ? authority : headers.host;
}

/** Returns a host in lower case without its port. */
export function nameOfHost(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
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
  const name = nameOfHost(host ?? "");
  if (hosts !== undefined && !hosts.has(name))
    throw new RequestError(403, "This server is not called by this host name.");
}
