import type { KvLike } from "@keywright/core";
import {
  ConfigMissingError,
  CopyUnsetError,
  DatabaseUnsetError,
} from "../../errors/codegen-errors.js";
import type { CopyConfig } from "../../project/config.js";
import { type LoadedConfig, loadConfig } from "../../project/load-config.js";
import { callOpenFunction } from "../../project/open-project.js";
import { withoutNewDatabases } from "../../project/without-new-databases.js";
import { openPath } from "./open-path.js";

/** The databases of a copy, as the command line names them. */
export interface CopyArguments {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The file of the configuration. */
  readonly config: string | undefined;
}

export interface CopyPlaces {
  readonly from: KvLike;
  readonly to: KvLike;
  readonly expireIn: CopyConfig["expireIn"];
}

const settings = ["database", "adopt.from", "copy.from", "copy.to"] as const;

type Setting = (typeof settings)[number];

/** Opens both databases, passes them to `use`, and closes them afterwards. */
export async function withCopyDatabases<T>(
  folder: string,
  { from, to, config: file }: CopyArguments,
  use: (places: CopyPlaces) => Promise<T>,
): Promise<T> {
  const needsConfig = [from, to].some((name) => name === undefined || isSetting(name));
  // Paths can be copied without a project, but its `expireIn` applies to them too.
  const config = await withoutNewDatabases(() =>
    loadConfig(folder, file).catch((error: unknown) => {
      if (error instanceof ConfigMissingError && file === undefined && !needsConfig)
        return undefined;
      throw error;
    }),
  );
  const source = from ?? "copy.from";
  const target = to ?? (config?.copy?.to === undefined ? "database" : "copy.to");
  const fromKv = await withoutNewDatabases(() => open(folder, config, source));
  try {
    const toKv = await open(folder, config, target);
    try {
      return await use({ from: fromKv, to: toKv, expireIn: config?.copy?.expireIn });
    } finally {
      await toKv.close();
    }
  } finally {
    await fromKv.close();
  }
}

function isSetting(name: string): name is Setting {
  return (settings as readonly string[]).includes(name);
}

async function open(
  folder: string,
  config: LoadedConfig | undefined,
  name: string,
): Promise<KvLike> {
  if (config === undefined || !isSetting(name)) return await openPath(folder, name);
  const openSetting = settingOf(config, name);
  if (openSetting === undefined) {
    if (name === "copy.from") throw new CopyUnsetError(config.path);
    throw new DatabaseUnsetError(config.path, name);
  }
  return await callOpenFunction(config.path, name, openSetting, ["get", "list", "atomic", "close"]);
}

function settingOf(
  { database, adopt, copy }: LoadedConfig,
  name: Setting,
): (() => KvLike | Promise<KvLike>) | undefined {
  switch (name) {
    case "database":
      return database;
    case "adopt.from":
      return adopt?.from as (() => KvLike | Promise<KvLike>) | undefined;
    case "copy.from":
      return copy?.from;
    case "copy.to":
      return copy?.to;
  }
}
