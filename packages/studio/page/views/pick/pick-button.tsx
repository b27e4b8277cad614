import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { Row } from "../../../src/protocol/rows.js";
import type { RelationInfo } from "../../../src/protocol/studio-info.js";
import { useStudio } from "../../navigation/studio-context.js";
import { RowPicker } from "./row-picker.js";

interface Props {
  readonly relation: RelationInfo;
  readonly field: string;
  readonly isDisabled?: boolean;
  /** Returns the value of another field of the reference, or undefined if it has none yet. */
  readonly knownValue: (field: string) => unknown;
  /** Gets the values of all fields of the reference. */
  readonly onPick: (values: Row) => void;
}

/** Shows a button that chooses the row to which the fields of a reference lead. */
export function PickButton({
  relation,
  field,
  isDisabled,
  knownValue,
  onPick,
}: Props): ComponentChild {
  const { models } = useStudio();
  const [isOpen, setOpen] = useState(false);
  const target = models.find(({ property }) => property === relation.target);
  if (target === undefined || target.primaryKey.length !== relation.fields.length) return null;
  const pick = (row: Row) => {
    setOpen(false);
    onPick(
      Object.fromEntries(
        relation.fields.map((name, position) => [name, row[target.primaryKey[position] ?? ""]]),
      ),
    );
  };
  return (
    <>
      <button
        type="button"
        aria-label={`Choose ${field} by name`}
        disabled={isDisabled ?? false}
        onClick={() => setOpen(true)}
      >
        Choose…
      </button>
      {isOpen && (
        <RowPicker
          model={target}
          fixed={fixedValues(relation, target.primaryKey, knownValue)}
          onClose={() => setOpen(false)}
          onPick={pick}
        />
      )}
    </>
  );
}

/** Returns the values of the first fields of the target's key, as far as they are known. */
function fixedValues(
  relation: RelationInfo,
  primaryKey: readonly string[],
  knownValue: (field: string) => unknown,
): Row {
  const fixed: Record<string, unknown> = {};
  for (const [position, name] of relation.fields.slice(0, -1).entries()) {
    const value = knownValue(name);
    if (value === undefined || value === null) break;
    fixed[primaryKey[position] ?? ""] = value;
  }
  return fixed;
}
