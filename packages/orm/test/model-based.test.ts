// test/slow has more random cases.
import { describeModels } from "./model-based.js";

describeModels({ embedded: 50, deno: 20, clients: 30, changes: 20 });
