import type { MigrationProgress } from "@keywright/orm";

/** Shows the progress of `migrate`, one build after another. */
export interface Reporter {
  show(progress: MigrationProgress): void;
  /** Ends what is shown; does nothing where nothing is. */
  stop(): void;
}
