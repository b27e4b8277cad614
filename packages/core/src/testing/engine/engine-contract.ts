import type { TestRunner } from "../contract.js";
import { runContract } from "../contract.js";
import { commitTests } from "./commit-tests.js";
import { consumerTests } from "./consumer-tests.js";
import { type EngineAdapter, testAdapter } from "./engine-adapter.js";
import { expiryTests } from "./expiry-tests.js";
import { getManyTests } from "./get-many-tests.js";
import { getRangeTests } from "./get-range-tests.js";
import { getTests } from "./get-tests.js";
import { logTests } from "./log-tests.js";
import { moveTests } from "./move-tests.js";
import { mutationTests } from "./mutation-tests.js";
import { pastTests } from "./past-tests.js";
import { rangeCheckTests } from "./range-check-tests.js";
import { reopenTests } from "./reopen-tests.js";
import { sharedTests } from "./shared-tests.js";
import { systemKeyTests } from "./system-key-tests.js";
import { viewTests } from "./view-tests.js";
import { visitTests } from "./visit-tests.js";
import { watchRangesTests } from "./watch-ranges-tests.js";
import { watchTests } from "./watch-tests.js";

/**
 * Tests what every engine must do, whatever its storage. Each test has a fresh store.
 *
 * ```ts
 * import { engineContract } from "@keywright/core/testing";
 * import { describe, it } from "vitest";
 *
 * engineContract({ describe, it }, {
 *   name: "my engine",
 *   create: async () => {
 *     const folder = await makeFolder();
 *     return { open: () => openMyEngine(folder), remove: () => removeFolder(folder) };
 *   },
 * });
 * ```
 */
export function engineContract(runner: TestRunner, adapter: EngineAdapter): void {
  runContract(runner, testAdapter(adapter), [
    getTests,
    getManyTests,
    getRangeTests,
    visitTests,
    viewTests,
    commitTests,
    rangeCheckTests,
    mutationTests,
    expiryTests,
    systemKeyTests,
    logTests,
    consumerTests,
    pastTests,
    moveTests,
    watchTests,
    watchRangesTests,
    reopenTests,
    sharedTests,
  ]);
}
