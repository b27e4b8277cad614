import { expect, it } from "vitest";
import { connectInFolder, listenInFolder } from "../src/kv/open/own/folder-socket.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

it.skipIf(process.platform === "win32")(
  "a connection that fails before its user listens to it does not end the process",
  async () => {
    const folder = await makeFolder();
    const stop = await listenInFolder(folder, (socket) => socket.destroy());
    try {
      const socket = await connectInFolder(folder);
      socket.destroy(new Error("ECONNRESET"));
      // Not `once` of node:events, which would listen to errors.
      await new Promise((resolve) => socket.on("close", resolve));
      expect(socket.destroyed).toBe(true);
    } finally {
      await stop();
      await removeFolder(folder);
    }
  },
);
