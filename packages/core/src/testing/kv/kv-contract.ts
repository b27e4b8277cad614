import type { TestRunner } from "../contract.js";
import { runContract } from "../contract.js";
import { atomicTests } from "./atomic-tests.js";
import { closeTests } from "./close-tests.js";
import { commitVersionstampTests } from "./commit-versionstamp-tests.js";
import { entryTests } from "./entry-tests.js";
import { errorCodeTests } from "./error-code-tests.js";
import { expiryTests } from "./expiry-tests.js";
import { getManyTests } from "./get-many-tests.js";
import { type KvAdapter, testAdapter } from "./kv-adapter.js";
import { listIteratorTests } from "./list/list-iterator-tests.js";
import { listSelectorTests } from "./list/list-selector-tests.js";
import { queueTests } from "./queue/queue-tests.js";
import { u64Tests } from "./u64-tests.js";
import { watchTests } from "./watch-tests.js";

/**
 * Tests what every database with the `Kv` interface must do. Each test has a fresh database.
 *
 * ```ts
 * import { kvContract } from "@keywright/core/testing";
 * import { describe, it } from "vitest";
 *
 * kvContract({ describe, it }, {
 *   name: "my database",
 *   create: async () => {
 *     const kv = await openMyDatabase();
 *     return { kv, dispose: () => kv.close() };
 *   },
 * });
 * ```
 */
export function kvContract(runner: TestRunner, adapter: KvAdapter): void {
  runContract(runner, testAdapter(adapter), [
    entryTests,
    getManyTests,
    listSelectorTests,
    listIteratorTests,
    atomicTests,
    u64Tests,
    expiryTests,
    commitVersionstampTests,
    watchTests,
    queueTests,
    closeTests,
    errorCodeTests,
  ]);
}
