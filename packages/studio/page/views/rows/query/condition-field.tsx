import type { ComponentChild } from "preact";
import { Text } from "../../../values/text.js";
import type { FieldConditions, KeyField, Operator } from "./query-state.js";
import { ValueInput } from "./value-input.js";

interface Props {
  readonly field: KeyField;
  readonly conditions: FieldConditions;
  /** True if the fields before it have a value, so that the index serves a condition on it. */
  readonly isServed: boolean;
  /** True if the index serves only a single value of the field. */
  readonly isExact: boolean;
  readonly onChange: (conditions: FieldConditions) => void;
  /** A button that chooses the value, for a field that refers to another row. */
  readonly picker?: ComponentChild;
}

type Mode = "eq" | "range" | "startsWith";

/** Shows the conditions on one field that an index serves. */
export function ConditionField(props: Props): ComponentChild {
  const { field, conditions, isServed, isExact, onChange, picker } = props;
  const mode = isExact ? "eq" : modeOf(conditions);
  const { name, info } = field;
  const isRanged = info.kind !== "boolean";
  const lower: Operator = conditions.gt !== undefined ? "gt" : "gte";
  const upper: Operator = conditions.lt !== undefined ? "lt" : "lte";
  const input = (operator: Operator, label: string) => (
    <ValueInput
      info={info}
      label={label}
      text={conditions[operator] ?? ""}
      isDisabled={!isServed}
      onChange={(text) => onChange({ ...conditions, [operator]: text })}
    />
  );
  return (
    <fieldset class="condition" disabled={!isServed}>
      <legend>
        <Text text={name} />
        {field.isEach && <span class="muted"> (an element)</span>}
      </legend>
      {!isExact && (
        <select
          aria-label={`Condition on ${name}`}
          value={mode}
          onChange={(event) => onChange(emptyOf(event.currentTarget.value))}
        >
          <option value="eq">{field.isEach ? "has" : "is"}</option>
          {isRanged && <option value="range">range</option>}
          {info.kind === "string" && <option value="startsWith">starts with</option>}
        </select>
      )}
      {mode === "eq" && input("eq", `Value of ${name}`)}
      {mode === "eq" && picker}
      {mode === "startsWith" && input("startsWith", `Start of ${name}`)}
      {mode === "range" && (
        <>
          <BoundSelect
            label={`Lower bound of ${name}`}
            value={lower}
            options={{ gte: "≥", gt: ">" }}
            onChange={(operator) => onChange(moved(conditions, lower, operator))}
          />
          {input(lower, `Least ${name}`)}
          <BoundSelect
            label={`Upper bound of ${name}`}
            value={upper}
            options={{ lte: "≤", lt: "<" }}
            onChange={(operator) => onChange(moved(conditions, upper, operator))}
          />
          {input(upper, `Greatest ${name}`)}
        </>
      )}
    </fieldset>
  );
}

interface BoundProps {
  readonly label: string;
  readonly value: Operator;
  readonly options: Readonly<Partial<Record<Operator, string>>>;
  readonly onChange: (operator: Operator) => void;
}

function BoundSelect({ label, value, options, onChange }: BoundProps): ComponentChild {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as Operator)}
    >
      {Object.entries(options).map(([operator, sign]) => (
        <option key={operator} value={operator}>
          {sign}
        </option>
      ))}
    </select>
  );
}

function modeOf(conditions: FieldConditions): Mode {
  if (conditions.startsWith !== undefined) return "startsWith";
  const { gte, gt, lte, lt } = conditions;
  return (gte ?? gt ?? lte ?? lt) === undefined ? "eq" : "range";
}

/** An empty text remembers the kind of condition. */
function emptyOf(mode: string): FieldConditions {
  if (mode === "range") return { gte: "" };
  return mode === "startsWith" ? { startsWith: "" } : {};
}

function moved(conditions: FieldConditions, from: Operator, to: Operator): FieldConditions {
  const { [from]: text = "", ...rest } = conditions;
  return { ...rest, [to]: text };
}
