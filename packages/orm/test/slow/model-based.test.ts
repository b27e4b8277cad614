import { describeModels } from "../model-based.js";

describeModels({ embedded: 150, deno: 60, clients: 100, changes: 60 });
