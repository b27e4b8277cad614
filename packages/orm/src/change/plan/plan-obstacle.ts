import type { MigrationPlan } from "./migration-plan.js";

/** The plan of a run that has not made one. */
export const emptyPlan: MigrationPlan = {
  models: [],
  steps: [],
  databaseOnly: [],
  leftValues: [],
  warnings: [],
  isEmpty: true,
  isBreaking: false,
  needsMigration: false,
};

/**
 * Returns why a plan cannot run: a step is blocked, or a breaking step is not accepted. Undefined
 * if it can.
 */
export function findObstacle(
  plan: MigrationPlan,
  accept: boolean | readonly string[] = false,
): "blocked" | "refused" | undefined {
  if (plan.needsMigration) return "blocked";
  const isAccepted = (id: string) => (typeof accept === "boolean" ? accept : accept.includes(id));
  // Only what the caller has named is planned to be dropped or removed.
  const named: readonly string[] = ["drop-model", "remove-values"];
  const isRefused = plan.steps.some(
    (step) => step.class === "breaking" && !named.includes(step.kind) && !isAccepted(step.id),
  );
  return isRefused ? "refused" : undefined;
}
