import type { ComponentChild } from "preact";
import type { MigrationState } from "../../../src/protocol/maintenance.js";
import { Dialog } from "../../parts/dialog.js";
import { Text } from "../../values/text.js";

interface Props {
  readonly plan: MigrationState;
  /** True if rows that fail do not prevent it. */
  readonly isForced: boolean;
  readonly onClose: () => void;
  readonly onAccept: () => void;
}

/** Asks before the database goes back. The answer accepts all breaking steps of the plan. */
export function RollbackDialog({ plan, isForced, onClose, onAccept }: Props): ComponentChild {
  const breaking = plan.steps.filter((step) => step.class === "breaking");
  return (
    <Dialog title="Roll back the database?" onClose={onClose}>
      {breaking.length > 0 && (
        <>
          <p>This accepts the steps that lose something:</p>
          <ul>
            {breaking.map(({ id, reason }) => (
              <li key={id}>
                <strong>
                  <Text text={id} />
                </strong>
                <br />
                <Text text={reason} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        {plan.isSideBySide
          ? "Programs with the newer models can still write afterwards."
          : "Programs with the newer models cannot write afterwards."}
      </p>
      {isForced && (
        <p>Rows that fail stay as they are, and cannot be read by the earlier models.</p>
      )}
      <footer class="dialog-actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={onAccept}>
          Roll back
        </button>
      </footer>
    </Dialog>
  );
}
