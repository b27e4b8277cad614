import { resolve } from "node:path";
import { isOwnedFiles } from "../../engine/files/owned-files.js";
import { EmbeddedKv } from "../embedded-kv.js";
import type { KvPlace } from "../open/open-handle.js";
import { isUrl } from "../open/where.js";

const unnamed = "another database";

/**
 * Returns the name of a database that programs may see: no user, password or parameter of a URL.
 */
export function nameOfPlace(place: KvPlace | EmbeddedKv): string {
  if (place instanceof EmbeddedKv) return EmbeddedKv.sharedOf(place, "moveKv").path ?? unnamed;
  if (isOwnedFiles(place)) return resolve(place.path);
  if (typeof place !== "string") {
    const { location } = place as { readonly location?: unknown };
    return typeof location === "string" ? location : unnamed;
  }
  if (place === ":memory:") return unnamed;
  if (place.startsWith("unix:")) return place;
  if (!isUrl(place)) return resolve(place);
  // The error of a URL that is not valid would have its password.
  if (!URL.canParse(place)) return unnamed;
  const { protocol, host, pathname } = new URL(place);
  return `${protocol}//${host}${pathname}`;
}
