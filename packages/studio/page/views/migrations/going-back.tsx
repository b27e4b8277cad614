import type { ComponentChild } from "preact";
import type { MigrationState } from "../../../src/protocol/maintenance.js";
import { Text } from "../../values/text.js";

/** Says that a plan takes the database back, and what that means. */
export function GoingBackNote({ plan }: { plan: MigrationState }): ComponentChild {
  if (plan.goesBack.length === 0) return null;
  const isBlocked = plan.steps.some(({ blocked }) => blocked !== null);
  return (
    <section class="note note-warn" aria-label="Rollback">
      <p>
        <strong>This plan takes the database back.</strong> The program has an earlier schema of{" "}
        <Text text={plan.goesBack.join(", ")} />. Rows are changed by the function <code>down</code>{" "}
        of each migration that led away from it, and lose what the earlier schema does not have.{" "}
        {isBlocked
          ? "It cannot run yet: first do what the blocked step says."
          : "Try the plan to see which fields that are."}
      </p>
    </section>
  );
}

/** Says how the migrations of the program can be undone. */
export function UndoMigrations({ plan }: { plan: MigrationState }): ComponentChild {
  const { migrations, steps } = plan;
  // Steps that are left may belong to a migration that has not run.
  if (migrations.length === 0 || steps.length > 0) return null;
  return (
    <section aria-label="Going back">
      <h2>Going back</h2>
      <ul class="steps">
        {migrations.map(({ name, model, obstacle }, index) => (
          <li key={index} class="step">
            <span class={obstacle === null ? "badge badge-good" : "badge badge-warn"}>
              {obstacle === null ? "can be undone" : "cannot be undone"}
            </span>{" "}
            <strong>
              <Text text={name} />
            </strong>{" "}
            of <Text text={model} />,{" "}
            <Text text={obstacle === null ? "by its down" : `because ${obstacle}`} />
          </li>
        ))}
      </ul>
      <p class="muted">
        To undo one, start the studio with the earlier models, for example after{" "}
        <code>git checkout v1.4.0 -- src/models</code>, and keep the migrations in the
        configuration. This page then shows the way back.
      </p>
    </section>
  );
}
