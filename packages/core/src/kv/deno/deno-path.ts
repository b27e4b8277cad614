import { isOwnedFiles } from "../../engine/files/owned-files.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { isEngine, isUrl, whereReason } from "../open/where.js";
import { denoError } from "./deno-error.js";

/**
 * Refuses a path as `Deno.openKv` does.
 *
 * @throws {TypeError} if the path is empty, not a string, begins with `:`, or is an invalid URL.
 * @throws {Error} if the path is a URL and there is no access token.
 */
export function assertDenoPath(where: unknown, token: string | undefined): void {
  if (isEngine(where) || isOwnedFiles(where)) return;
  if (typeof (where as { open?: unknown } | null)?.open === "function") return;
  if (typeof where !== "string" || where === "") throw refused("Filename cannot be empty");
  if (where.startsWith(":") && where !== ":memory:")
    throw refused("Filename cannot start with ':' unless prefixed with './'");
  if (!isUrl(where)) return;
  const own = new InvalidOptionError("where", "must be a valid URL", "openKv");
  if (!URL.canParse(where)) throw denoError(own, `Invalid database url: ${where}`);
  const names = ["DENO_KV_ACCESS_TOKEN", "KEYWRIGHT_TOKEN"];
  if (token !== undefined || names.some((name) => process.env[name] !== undefined)) return;
  const missing = new InvalidOptionError("token", "must be given for a URL", "openKv");
  const text =
    "Missing DENO_KV_ACCESS_TOKEN environment variable. Please set it to your access token from https://console.deno.com";
  throw denoError(missing, text, Error);
}

function refused(text: string): Error {
  return denoError(new InvalidOptionError("where", whereReason, "openKv"), text);
}
