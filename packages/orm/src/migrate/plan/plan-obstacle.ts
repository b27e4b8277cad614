import type { MigrationPlan } from "./migration-plan.js";

/** The plan of a run that has not made one. */
export const emptyPlan: MigrationPlan = {
  models: [],
  steps: [],
  databaseOnly: [],
  warnings: [],
  isEmpty: true,
  isBreaking: false,
  needsMigration: false,
};

/**
 * Returns why a plan cannot run: a step is blocked, or a breaking step is not accepted. Undefined if
 * it can.
 */
export function findObstacle(
  plan: MigrationPlan,
  accept: boolean | readonly string[] = false,
): "blocked" | "refused" | undefined {
  if (plan.needsMigration) return "blocked";
  const isAccepted = (id: string) => (typeof accept === "boolean" ? accept : accept.includes(id));
  // Only models that the caller has named are planned to be dropped.
  const isRefused = plan.steps.some(
    (step) => step.class === "breaking" && step.kind !== "drop-model" && !isAccepted(step.id),
  );
  return isRefused ? "refused" : undefined;
}
