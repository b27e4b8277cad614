// Plants a fault in a process, and in those that it starts: `node --import …/register.mjs` with the
// name of the fault in KEYWRIGHT_PLANTED. No file is changed: modules are edited as they are loaded.
import { register } from "node:module";

if (process.env.KEYWRIGHT_PLANTED) register("./hooks.mjs", import.meta.url);
