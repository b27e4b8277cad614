// Writes with both clients to the server whose URL and token are its arguments.
import { openKv as openDenoKv } from "@deno/kv";
import { openKv } from "@keywright/core";

const [url, token] = process.argv.slice(2);
const own = await openKv(url, { token, compat: "deno" });
await own.set(["own"], 1);
const deno = await openDenoKv(url, { accessToken: token });
await deno.set(["deno"], 2);
console.log((await deno.get(["own"])).value, (await own.get(["deno"])).value);
deno.close();
await own.close();
