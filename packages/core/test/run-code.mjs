// Runs the code of its argument, which may await, with functions of the built package.
import { openKv, repairDatabase } from "../dist/index.js";

const AsyncFunction = (async () => undefined).constructor;
await new AsyncFunction("openKv", "repairDatabase", process.argv[2])(openKv, repairDatabase);
