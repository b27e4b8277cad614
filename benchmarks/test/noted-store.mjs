// One of the stores that note their calls, in a process of its own.
import { serveStore } from "../measure/serve-store.mjs";
import { cases, contenders } from "./noted-stores.mjs";

serveStore(contenders, cases);
