import { InvalidOptionError } from "../../errors/core-errors.js";
import { isRemoteUrl, remoteUrlReason } from "../open/remote-url.js";
import { isEngine, whereReason } from "../open/where.js";
import { denoError } from "./deno-error.js";

/**
 * Refuses a path as `Deno.openKv` does. A database at a URL cannot be opened here at all.
 *
 * @throws {TypeError} if the path is empty, not a string, begins with `:`, or is an invalid URL.
 * @throws {Error} if the path is a URL and there is no access token.
 */
export function assertDenoPath(where: unknown): void {
  if (isEngine(where)) return;
  if (typeof (where as { open?: unknown } | null)?.open === "function") return;
  if (typeof where !== "string" || where === "") throw refused("Filename cannot be empty");
  if (where.startsWith(":") && where !== ":memory:")
    throw refused("Filename cannot start with ':' unless prefixed with './'");
  if (!isRemoteUrl(where)) return;
  const own = new InvalidOptionError("where", remoteUrlReason, "openKv");
  if (!URL.canParse(where)) throw denoError(own, `Invalid database url: ${where}`);
  if (process.env["DENO_KV_ACCESS_TOKEN"] !== undefined) throw own;
  const text =
    "Missing DENO_KV_ACCESS_TOKEN environment variable. Please set it to your access token from https://console.deno.com";
  throw denoError(own, text, Error);
}

function refused(text: string): Error {
  return denoError(new InvalidOptionError("where", whereReason, "openKv"), text);
}
