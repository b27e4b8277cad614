import type { KvLike } from "@keywright/core";
import {
  ConfigMissingError,
  CopyUnsetError,
  DatabaseUnsetError,
} from "../../errors/codegen-errors.js";
import { type LoadedConfig, loadConfig } from "../../project/config/load-config.js";
import { withoutNewDatabases } from "../../project/config/without-new-databases.js";
import { denoFileAt, openPath } from "../../project/open-path.js";
import { callOpenFunction } from "../../project/open-project.js";

const settings = ["database", "adopt.from", "copy.from", "copy.to"] as const;

type Setting = (typeof settings)[number];

/**
 * Loads the configuration. Returns undefined if there is none, and none of the databases is named
 * by one of its settings.
 *
 * @param file false to load none.
 * @param places paths, URLs or settings. Undefined for a default, which is a setting.
 */
export async function configFor(
  folder: string,
  file: string | false | undefined,
  places: readonly (string | undefined)[],
): Promise<LoadedConfig | undefined> {
  if (file === false) return undefined;
  const needsConfig = places.some((place) => place === undefined || isSetting(place));
  return await withoutNewDatabases(() =>
    loadConfig(folder, file).catch((error: unknown) => {
      const isOptional = file === undefined && !needsConfig;
      if (error instanceof ConfigMissingError && isOptional) return undefined;
      throw error;
    }),
  );
}

/** Opens the database that a path, a URL or a setting of the configuration names. */
export async function openPlace(
  folder: string,
  config: LoadedConfig | undefined,
  name: string,
): Promise<KvLike> {
  if (config === undefined || !isSetting(name)) return await openPath(folder, name);
  const openSetting = settingOf(config, name);
  if (openSetting === undefined) {
    if (name === "copy.from") throw new CopyUnsetError({ path: config.path });
    throw new DatabaseUnsetError({ path: config.path, at: name });
  }
  return await callOpenFunction(config.path, name, openSetting, ["get", "list", "atomic", "close"]);
}

/**
 * Returns the path of a file of Deno KV that `name` leads to: a path, or a setting of the
 * configuration. Undefined for anything else, and if this runtime is not Deno, which alone can read
 * the file.
 */
export function denoFile(
  folder: string,
  config: LoadedConfig | undefined,
  name: string,
): string | undefined {
  if (config === undefined || !isSetting(name)) return denoFileAt(folder, name);
  const { adopt, copy } = config;
  const place = name === "copy.from" ? copy?.from : name === "adopt.from" ? adopt?.from : undefined;
  return typeof place === "string" ? denoFileAt(config.folder, place) : undefined;
}

export function isSetting(name: string): name is Setting {
  return (settings as readonly string[]).includes(name);
}

function settingOf(
  { database, adopt, copy, folder }: LoadedConfig,
  name: Setting,
): (() => KvLike | Promise<KvLike>) | undefined {
  switch (name) {
    case "database":
      return database;
    case "adopt.from":
      return opener(folder, adopt?.from as string | (() => KvLike | Promise<KvLike>) | undefined);
    case "copy.from":
      return opener(folder, copy?.from);
    case "copy.to":
      return opener(folder, copy?.to);
  }
}

function opener<F>(folder: string, place: string | F): F | (() => Promise<KvLike>) {
  return typeof place === "string" ? () => openPath(folder, place) : place;
}
