import type { ComponentChild } from "preact";
import type { StepInfo } from "../../../src/protocol/maintenance.js";
import { Lines } from "../../values/lines.js";
import { Text } from "../../values/text.js";

interface Props {
  readonly steps: readonly StepInfo[];
  readonly accepted: ReadonlySet<string>;
  /** True if breaking steps are accepted one by one. */
  readonly isAccepting: boolean;
  readonly isFixed: boolean;
  readonly onToggle: (id: string) => void;
}

/** Shows the steps that are left, by model. Breaking steps have to be accepted. */
export function PlanSteps(props: Props): ComponentChild {
  const { steps, accepted, isAccepting, isFixed, onToggle } = props;
  if (steps.length === 0) return <p>The database has the schema of the program.</p>;
  const byModel = Map.groupBy(steps, ({ model }) => model);
  return [...byModel].map(([model, ofModel]) => (
    <section key={model} class="plan-model">
      <h3>
        <Text text={model} />
      </h3>
      <ul class="steps">
        {ofModel.map((step) => (
          <li key={step.id} class="step">
            <p>
              <span class={`badge ${badges[step.class] ?? ""}`}>{step.class}</span>{" "}
              <strong>
                <Text text={step.kind} />
              </strong>{" "}
              <Text text={step.reason} />
            </p>
            {step.blocked !== null && (
              <p class="step-blocked">
                Blocked: <Lines text={step.blocked} />
              </p>
            )}
            {isAccepting && step.class === "breaking" && (
              <label class="check">
                <input
                  type="checkbox"
                  checked={accepted.has(step.id)}
                  disabled={isFixed}
                  onChange={() => onToggle(step.id)}
                />
                <span>
                  Accept <Text text={step.id} />
                </span>
              </label>
            )}
          </li>
        ))}
      </ul>
    </section>
  ));
}

const badges: Readonly<Record<string, string>> = {
  safe: "badge-good",
  backfill: "badge-info",
  rebuild: "badge-info",
  data: "badge-warn",
  breaking: "badge-bad",
};
