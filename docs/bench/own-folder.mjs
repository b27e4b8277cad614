// Opens a folder and serves it, and tells how much memory this process has:
// `own-folder.mjs <folder> <token>`.
import { openKv } from "@keywright/core";
import { serve } from "@keywright/server";

const [folder, token] = process.argv.slice(2);
const { url } = await serve(await openKv(folder), { port: 0, tokens: [token] });
process.send(url);
process.on("message", () => process.send(process.memoryUsage.rss()));
process.on("disconnect", () => process.exit());
