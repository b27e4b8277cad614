import * as core from "@keywright/core";
import { OwnerProcess } from "./owner-process.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

export * from "@keywright/core";

let owner: OwnerProcess | undefined;

/** `openKv`, which opens a new folder that another process has opened before. */
export async function openKv(
  where?: Parameters<typeof core.openKv>[0],
  options?: core.OpenKvOptions,
): Promise<core.EmbeddedKv> {
  const isInMemory = (where === undefined || where === ":memory:") && options === undefined;
  if (!isInMemory) return await core.openKv(where, options);
  owner ??= new OwnerProcess();
  const folder = await makeFolder();
  await owner.open(folder);
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
