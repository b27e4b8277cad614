import { CallFailure } from "../client/call-failure.js";
import type { EtcdClient } from "../client/etcd-client.js";
import { typedFailure, unavailable } from "../client/typed-failure.js";
import { EtcdVersionError } from "../errors/etcd-errors.js";
import { versionProblem } from "./version-problem.js";

/**
 * Asks all members for their version.
 *
 * @throws {EtcdVersionError} if a member that answers has a version that cannot be used.
 * @throws {EngineUnavailableError} if no member answers in time.
 */
export async function assertVersions(client: EtcdClient): Promise<void> {
  const attempts = client.attempts();
  for (;;) {
    const answers = await client.ofAll("Maintenance.Status", {});
    const failures: Error[] = [];
    for (const { endpoint, outcome } of answers) {
      if (outcome instanceof Error) {
        failures.push(outcome);
        continue;
      }
      const problem = versionProblem(outcome.version);
      if (problem !== undefined) throw new EtcdVersionError(endpoint, outcome.version, problem);
    }
    if (failures.length < answers.length) return;
    const failure = failures[0]!;
    if (!(failure instanceof CallFailure)) throw failure;
    if (failure.kind === "refused") throw typedFailure(failure);
    if (!(await attempts.pauseAfter(failure))) throw unavailable(client.endpoints, failure);
  }
}
