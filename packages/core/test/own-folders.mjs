// A process that owns folders. It opens and closes those that messages name.
import { openKv } from "../dist/index.js";

const open = new Map();

process.on("message", (message) => void handle(message));
process.on("disconnect", () => process.exit());

async function handle({ id, call, folder, options }) {
  try {
    if (call === "open") open.set(folder, await openKv(folder, options));
    else await open.get(folder)?.close();
    process.send({ id });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
}
