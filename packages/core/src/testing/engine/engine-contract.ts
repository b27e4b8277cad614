import type { TestRunner } from "../contract.js";
import { runContract } from "../contract.js";
import { commitTests } from "./commit/commit-tests.js";
import { expiryTests } from "./commit/expiry-tests.js";
import { mutationTests } from "./commit/mutation-tests.js";
import { rangeCheckTests } from "./commit/range-check-tests.js";
import { systemKeyTests } from "./commit/system-key-tests.js";
import { type EngineAdapter, testAdapter } from "./engine-adapter.js";
import { consumerTests } from "./log/consumer-tests.js";
import { logTests } from "./log/log-tests.js";
import { moveTests } from "./log/move-tests.js";
import { pastTests } from "./log/past-tests.js";
import { getManyTests } from "./read/get-many-tests.js";
import { getRangeTests } from "./read/get-range-tests.js";
import { getTests } from "./read/get-tests.js";
import { viewTests } from "./read/view-tests.js";
import { visitTests } from "./read/visit-tests.js";
import { reopenTests } from "./reopen-tests.js";
import { sharedTests } from "./shared-tests.js";
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
