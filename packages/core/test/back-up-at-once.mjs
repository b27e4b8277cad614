// Makes one full backup after another: `node back-up-at-once.mjs SINK BACKUPS`. Each begins when
// the parent sends a message, after it has seen the backups that the sink has.
import { once } from "node:events";
import { backup, folderSink } from "../dist/backup.js";
import { openKv } from "../dist/index.js";

const [path, backups] = process.argv.slice(2);
const folder = folderSink(path);
let isFirst = true;
const sink = {
  ...folder,
  async put(name, bytes) {
    if (isFirst) {
      isFirst = false;
      process.send("ready");
      await once(process, "message");
    }
    await folder.put(name, bytes);
  },
};
const kv = await openKv(":memory:");
await kv.set(["a"], 1);
for (let n = 0; n < Number(backups); n++) {
  isFirst = true;
  await backup(kv, sink);
}
await kv.close();
process.disconnect();
