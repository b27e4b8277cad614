import type { IncomingMessage } from "node:http";
import { InvalidOptionError } from "@keywright/core";
import { hostOf, isLoopback, nameOfHost } from "./known-hosts.js";

/** Headers of proxies, which may call the server by another URL than their clients. */
const proxyHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
];

/** Where a client sends its requests. */
export interface Endpoints {
  /** Relative to the URL that the client has called, so that a proxy need not be known. */
  readonly relative: string;
  /** Absolute. Undefined if it is not known how the client calls the server. */
  readonly absolute: string | undefined;
}

export interface EndpointOptions {
  /** The last part of the path of the endpoint. */
  readonly name: string;
  readonly path: string;
  readonly hasTls: boolean;
  readonly publicUrl: string | undefined;
}

/**
 * Returns where the client that sent a request sends its further ones. An absolute URL would have
 * its token in plain text if a proxy adds TLS, so it is known only if the server itself has TLS, if
 * the client calls it directly on the same machine, or if its public URL is given.
 */
export function endpointsOf(request: IncomingMessage, options: EndpointOptions): Endpoints {
  const { name, path, hasTls, publicUrl } = options;
  const [called = "/"] = (request.url ?? "/").split("?");
  const last = called.slice(called.lastIndexOf("/") + 1);
  const relative = last === "" ? name : `${last}/${name}`;
  const base = path === "/" ? "" : path;
  const host = hostOf(request) ?? "";
  const isDirect =
    isLoopback(nameOfHost(host)) && proxyHeaders.every((each) => !(each in request.headers));
  let absolute: string | undefined;
  if (publicUrl !== undefined) absolute = `${publicUrl}/${name}`;
  else if (hasTls) absolute = `https://${host}${base}/${name}`;
  else if (isDirect) absolute = `http://${host}${base}/${name}`;
  return { relative, absolute };
}

/**
 * Returns the public URL of a server without a slash at its end.
 *
 * @throws {InvalidOptionError} if it is not a URL of HTTP, or has a query or a fragment.
 */
export function publicUrlOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isValid =
    (url?.protocol === "https:" || url?.protocol === "http:") &&
    url.search === "" &&
    url.hash === "" &&
    url.username === "";
  if (url === undefined || !isValid)
    throw new InvalidOptionError("publicUrl", "must be the URL that clients open", "serve");
  return url.href.replace(/\/+$/, "");
}
