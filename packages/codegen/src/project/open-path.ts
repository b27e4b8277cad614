import { Buffer } from "node:buffer";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Engine, type KvLike, type KvPlace, type OwnedFiles, openKv } from "@keywright/core";
import { DenoKvMissingError, EngineMissingError } from "../errors/codegen-errors.js";
import { type EngineUrl, engineUrl } from "./engine-url.js";

type OpenDenoKv = (where: string) => Promise<KvLike>;

/**
 * Opens the database at a path or URL. A URL is that of a database on etcd, PostgreSQL, LMDB or
 * SQLite (see {@link engineUrl}) or of a KV Connect server. A file is that of `@keywright/sqlite`
 * or of Deno KV, and anything else is the folder of a Keywright database.
 *
 * @param folder the folder that a path is relative to, and whose project has the packages.
 */
export async function openPath(folder: string, place: string): Promise<KvLike> {
  const engine = engineUrl(folder, place);
  if (engine !== undefined) return await openEngine(folder, engine);
  if (isHttp(place)) return await (await denoKvOpener(folder, place))(place);
  const path = resolve(folder, place);
  if (!isFile(path)) return await openKv(path);
  if (isOfSqliteEngine(path)) {
    const options = { path, createIfMissing: false };
    const names = { packageName: "@keywright/sqlite", exportName: "sqliteEngine" } as const;
    return await openEngine(folder, { ...names, options });
  }
  return await (await denoKvOpener(folder, place))(path);
}

/**
 * Opens the database at a path or URL like {@link openPath}. A server of Keywright takes its own
 * token, from `KEYWRIGHT_TOKEN`, and any server of KV Connect that of Deno.
 */
export async function openWithToken(folder: string, place: string): Promise<KvLike> {
  const { KEYWRIGHT_TOKEN: token } = process.env;
  const isServer = token !== undefined && isHttp(place);
  return isServer ? await openKv(place, { token }) : await openPath(folder, place);
}

/**
 * Returns the path of a file of Deno KV if a place is one and this runtime is Deno. `copyKv` reads
 * more of the file than Deno KV reports.
 */
export function denoFileAt(folder: string, place: string): string | undefined {
  if (!("Deno" in globalThis) || isHttp(place) || engineUrl(folder, place) !== undefined)
    return undefined;
  const path = resolve(folder, place);
  return isFile(path) && !isOfSqliteEngine(path) ? path : undefined;
}

function isHttp(place: string): boolean {
  return /^https?:\/\//i.test(place);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * True if the header of an SQLite file has the number of `@keywright/sqlite` as the id of its
 * program. Deno KV would add its tables to such a file.
 */
function isOfSqliteEngine(path: string): boolean {
  const header = Buffer.alloc(applicationIdOffset + 4);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  return header.toString("latin1", applicationIdOffset) === "KWRT";
}

/** Where SQLite stores the id, see https://www.sqlite.org/fileformat.html. */
const applicationIdOffset = 68;

/**
 * Returns what a path or URL of a Keywright database is for `openKv`. See {@link openPath}.
 */
export async function kvPlace(folder: string, place: string): Promise<KvPlace> {
  const engine = engineUrl(folder, place);
  if (engine !== undefined) return await makeEngine(folder, engine);
  return isHttp(place) ? place : resolve(folder, place);
}

async function makeEngine(folder: string, url: EngineUrl): Promise<Engine | OwnedFiles> {
  const { packageName, exportName, options } = url;
  const module = await importPackage<
    Readonly<Record<string, (options: unknown) => Promise<Engine | OwnedFiles>>>
  >(folder, packageName);
  return await module[exportName]!(options);
}

async function openEngine(folder: string, url: EngineUrl): Promise<KvLike> {
  const engine = await makeEngine(folder, url);
  try {
    return await openKv(engine);
  } catch (error) {
    // A file is open only while `openKv` has it open.
    if ("close" in engine) await engine.close();
    throw error;
  }
}

/** In Deno it is built in. In Node.js it is the package `@deno/kv` of the project. */
async function denoKvOpener(folder: string, place: string): Promise<OpenDenoKv> {
  const { Deno } = globalThis as { readonly Deno?: { readonly openKv?: OpenDenoKv } };
  if (Deno !== undefined) {
    if (Deno.openKv === undefined) throw new DenoKvMissingError({ place, runtime: "deno" });
    return Deno.openKv;
  }
  const path = pathOfPackage(folder, "@deno/kv");
  if (path === undefined) throw new DenoKvMissingError({ place, runtime: "node" });
  const { openKv: open } = (await import(pathToFileURL(path).href)) as {
    readonly openKv: OpenDenoKv;
  };
  return open;
}

/** Imports a package of the project of a folder. */
export async function importPackage<T>(folder: string, packageName: string): Promise<T> {
  const path = pathOfPackage(folder, packageName);
  if (path === undefined) throw new EngineMissingError({ packageName });
  return (await import(pathToFileURL(path).href)) as T;
}

/** Returns undefined if the project of the folder does not have the package. */
export function pathOfPackage(folder: string, name: string): string | undefined {
  try {
    return createRequire(join(folder, "package.json")).resolve(name);
  } catch {
    return undefined;
  }
}
