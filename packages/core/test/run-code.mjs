// Runs the code of its argument, which may await, with `openKv` of the built package.
import { openKv } from "../dist/index.js";

const AsyncFunction = (async () => undefined).constructor;
await new AsyncFunction("openKv", process.argv[2])(openKv);
