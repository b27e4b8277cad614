// The store of one contender in a process of its own: `store.mjs <contender>`.
import { cases } from "../cases.mjs";
import { contenders } from "../contenders/index.mjs";
import { serveStore } from "./serve-store.mjs";

serveStore(contenders, cases);
