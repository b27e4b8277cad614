export { durableObjectEngine } from "./durable-object-engine.js";
export type { ObjectStorage } from "./object-storage.js";
