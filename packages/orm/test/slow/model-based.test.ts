import { describeModels } from "../model-based.js";

// With those of `npm test`, 150 cases on an embedded database.
describeModels({ embedded: 100, deno: 40, clients: 70, changes: 40 });
