import type { ComponentChild } from "preact";
import type { Row } from "../../../../src/protocol/rows.js";
import type { ModelInfo } from "../../../../src/protocol/studio-info.js";
import { referencesOf } from "../../../navigation/references.js";
import { editText } from "../../../values/edit-text.js";
import { parseValue } from "../../../values/parse-value.js";
import { PickButton } from "../../pick/pick-button.js";
import type { FieldConditions, KeyField, QueryState } from "./query-state.js";

interface Props {
  readonly model: ModelInfo;
  readonly fields: readonly KeyField[];
  readonly field: KeyField;
  readonly state: QueryState;
  readonly onPick: (conditions: Readonly<Record<string, FieldConditions>>) => void;
}

/** Shows a button that chooses the value of a condition, if the field refers to another row. */
export function ConditionPicker({ model, fields, field, state, onPick }: Props): ComponentChild {
  const relation = referencesOf(model).get(field.name);
  if (relation === undefined) return null;
  const knownValue = (name: string) => {
    const info = fields.find((each) => each.name === name)?.info;
    const text = state.conditions[name]?.eq ?? "";
    if (info === undefined || text === "") return undefined;
    const parsed = parseValue(info, text);
    return parsed.ok ? parsed.value : undefined;
  };
  const pick = (values: Row) => {
    const served = fields.filter(({ name }) => name in values);
    onPick(
      Object.fromEntries(
        served.map(({ name, info }) => [name, { eq: editText(info.kind, values[name]) }]),
      ),
    );
  };
  return <PickButton {...{ relation, knownValue }} field={field.name} onPick={pick} />;
}
