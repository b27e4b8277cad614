import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type KvLike, openKv } from "@keywright/core";
import { DenoKvMissingError } from "../../errors/codegen-errors.js";

type OpenDenoKv = (where: string) => Promise<KvLike>;

/**
 * Opens the database at a path or URL. A URL is that of a KV Connect server, a file is that of Deno
 * KV, and anything else is the folder of a Keywright database.
 *
 * @param folder the folder that a path is relative to.
 */
export async function openPath(folder: string, place: string): Promise<KvLike> {
  const isUrl = /^https?:\/\//i.test(place);
  const path = isUrl ? place : resolve(folder, place);
  if (!isUrl && statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    return await openKv(path);
  }
  return await (await denoKvOpener(folder, place))(path);
}

/** In Deno it is built in. In Node.js it is the package `@deno/kv` of the project. */
async function denoKvOpener(folder: string, place: string): Promise<OpenDenoKv> {
  const { Deno } = globalThis as { readonly Deno?: { readonly openKv?: OpenDenoKv } };
  if (Deno !== undefined) {
    if (Deno.openKv === undefined) throw new DenoKvMissingError(place, "deno");
    return Deno.openKv;
  }
  let path: string;
  try {
    path = createRequire(join(folder, "package.json")).resolve("@deno/kv");
  } catch {
    throw new DenoKvMissingError(place, "node");
  }
  const { openKv: open } = (await import(pathToFileURL(path).href)) as {
    readonly openKv: OpenDenoKv;
  };
  return open;
}
