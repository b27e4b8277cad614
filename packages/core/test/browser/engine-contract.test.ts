// The contract of engines, in a browser.
import { describe, it } from "vitest";
import { MemoryEngine, MemoryStore } from "../../src/engine/memory/memory-engine.js";
import { engineContract, type TestRunner } from "../../src/testing/index.js";

// Browsers have no `moveKv`.
const runner: TestRunner = {
  describe: (name, body) =>
    name.endsWith(": moves") ? describe.skip(name, body) : describe(name, body),
  it,
};

engineContract(runner, {
  name: "MemoryEngine",
  capabilities: ["views", "rangeChecks", "expiryOrder", "log"],
  create: async () => {
    const store = new MemoryStore();
    return { open: async () => new MemoryEngine(store) };
  },
});
