// Listens to an empty queue and closes the database with a timer that does not keep the process
// alive.
import { openKv } from "../dist/index.js";

const kv = await openKv();
const listening = kv.listenQueue(() => undefined);
setTimeout(() => void kv.close(), 50).unref();
await listening;
console.log("done");
