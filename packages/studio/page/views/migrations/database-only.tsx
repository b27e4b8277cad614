import type { ComponentChild } from "preact";
import type { MigrationState } from "../../../src/protocol/maintenance.js";
import { Text } from "../../values/text.js";
import { countText } from "../../values/value-text.js";

interface Props {
  readonly models: MigrationState["databaseOnly"];
  readonly dropped: ReadonlySet<string>;
  readonly isFixed: boolean;
  readonly onToggle: (model: string) => void;
}

/** Shows the models that the program no longer has, and offers to remove them. */
export function DatabaseOnly({ models, dropped, isFixed, onToggle }: Props): ComponentChild {
  if (models.length === 0) return null;
  return (
    <section>
      <h2>Models that only the database has</h2>
      <ul class="steps">
        {models.map(({ model, rows }) => (
          <li key={model} class="step">
            <label class="check">
              <input
                type="checkbox"
                checked={dropped.has(model)}
                disabled={isFixed}
                onChange={() => onToggle(model)}
              />
              <span>
                Remove <Text text={model} /> and its{" "}
                {rows === null ? "rows" : countText(rows, "row")}
              </span>
            </label>
          </li>
        ))}
      </ul>
    </section>
  );
}
