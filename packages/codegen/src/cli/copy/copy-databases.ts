import type { KvLike } from "@keywright/core";
import type { CopyConfig } from "../../project/config/config.js";
import { withoutNewDatabases } from "../../project/config/without-new-databases.js";
import { configFor, openPlace } from "./open-place.js";

/** The databases of a copy, as the command line names them. */
export interface CopyArguments {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The file of the configuration. False to load none. */
  readonly config: string | false | undefined;
}

export interface CopyPlaces {
  readonly from: KvLike;
  readonly to: KvLike;
  readonly expireIn: CopyConfig["expireIn"];
}

/** Opens both databases, passes them to `use`, and closes them afterwards. */
export async function withCopyDatabases<T>(
  folder: string,
  { from, to, config: file }: CopyArguments,
  use: (places: CopyPlaces) => Promise<T>,
): Promise<T> {
  // Paths can be copied without a project, but its `expireIn` applies to them too.
  const config = await configFor(folder, file, [from, to]);
  const target = to ?? (config?.copy?.to === undefined ? "database" : "copy.to");
  const fromKv = await withoutNewDatabases(() => openPlace(folder, config, from ?? "copy.from"));
  try {
    const toKv = await openPlace(folder, config, target);
    try {
      return await use({ from: fromKv, to: toKv, expireIn: config?.copy?.expireIn });
    } finally {
      await toKv.close();
    }
  } finally {
    await fromKv.close();
  }
}
