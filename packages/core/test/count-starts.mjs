// Counts its starts in the folder of the first argument, prints the count, and keeps running.
import { openKv } from "../dist/index.js";

const kv = await openKv(process.argv[2]);
await kv.atomic().sum(["starts"], 1n).commit();
console.log(`start ${(await kv.get(["starts"])).value} attached ${kv.attached !== undefined}`);
setInterval(() => undefined, 1000);
