import * as core from "@keywright/core";
import { OwnerProcess } from "./owner-process.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

export * from "@keywright/core";

let owner: OwnerProcess | undefined;

/**
 * `openKv`, which opens a new folder that another process has opened before, maybe with a log.
 */
export async function openKv(
  where?: Parameters<typeof core.openKv>[0],
  options?: core.OpenKvOptions,
): Promise<core.EmbeddedKv> {
  const { log, ...others } = options ?? {};
  const isInMemory = where === undefined || where === ":memory:";
  if (!isInMemory || Object.keys(others).length > 0) return await core.openKv(where, options);
  owner ??= new OwnerProcess();
  const folder = await makeFolder();
  await owner.open(folder, { log });
  const kv = await core.openKv(folder, { durability: "relaxed" });
  if (kv.attached?.pid !== owner.pid) throw new Error("This process must be attached.");
  const close = kv.close.bind(kv);
  kv.close = async () => {
    await close();
    await owner?.close(folder);
    await removeFolder(folder);
  };
  return kv;
}
