import type { PlannedStep } from "../../state/run/migration-step.js";
import type { ModelFacts } from "../../state/run/model-facts.js";
import { canonicalJson } from "../../state/schema/manifests/hash.js";
import {
  parseCopyingText,
  parseRelationText,
} from "../../state/schema/manifests/model-manifest.js";

/** Plans the relations of a model, and those of other models that copy its fields. */
export function planRelations(facts: ModelFacts): PlannedStep[] {
  return [...planReferences(facts), ...planCopying(facts)];
}

function planReferences({ entry, relations }: ModelFacts): PlannedStep[] {
  const parse = (texts: readonly string[]) =>
    texts.flatMap((text) => parseRelationText(text) ?? []);
  const declared = parse(relations);
  const stored = parse(entry.relations ?? []);
  // A database that no program has migrated has no record of its relations.
  if (entry.relations === undefined && entry.schema === undefined) return [];
  const nameOf = ({ fields, model: target }: (typeof declared)[number]) =>
    `${fields.join(",")} → ${target}`;
  const storedByName = new Map(stored.map((relation) => [nameOf(relation), relation]));
  const declaredByName = new Map(declared.map((relation) => [nameOf(relation), relation]));
  const steps: PlannedStep[] = [];
  for (const [of, { onDelete, copy }] of declaredByName) {
    const previous = storedByName.get(of);
    if (previous === undefined) {
      const reason = `Every write checks ${of} from now on. Existing rows are not checked.`;
      steps.push({ kind: "add-relation", class: "safe", sideBySide: false, of, reason });
    } else if (previous.onDelete !== onDelete) {
      const reason = `The relation ${of} had onDelete: ${JSON.stringify(previous.onDelete)} and has ${JSON.stringify(onDelete)} now.`;
      steps.push({ kind: "change-relation", class: "safe", sideBySide: false, of, reason });
    } else if (canonicalJson(previous.copy) !== canonicalJson(copy)) {
      const fields = Object.keys(copy);
      const reason =
        fields.length === 0
          ? `The relation ${of} no longer copies fields.`
          : `The relation ${of} copies ${fields.join(", ")} now.`;
      steps.push({ kind: "change-relation", class: "safe", sideBySide: false, of, reason });
    }
  }
  for (const of of storedByName.keys()) {
    if (declaredByName.has(of)) continue;
    const reason = `${of} is no longer checked. Programs that rely on it may read rows that refer to a missing row.`;
    steps.push({ kind: "drop-relation", class: "breaking", sideBySide: false, of, reason });
  }
  return steps;
}

/** Plans the relations of other models that copy fields of this one. */
function planCopying({ model, entry, relations }: ModelFacts): PlannedStep[] {
  const stored = entry.relations ?? [];
  const isKnown = (texts: readonly string[], by: string) =>
    texts.some((text) => parseCopyingText(text) === by);
  const steps: PlannedStep[] = [];
  for (const text of relations) {
    const of = parseCopyingText(text);
    if (of === undefined || stored.includes(text)) continue;
    const kind = isKnown(stored, of) ? "change-relation" : "add-relation";
    const reason = `Every write of ${model.name} also writes its copies in ${of} from now on`;
    steps.push({ kind, class: "safe", sideBySide: false, of, reason });
  }
  for (const text of stored) {
    const of = parseCopyingText(text);
    if (of === undefined || isKnown(relations, of)) continue;
    const reason = `Writes of ${model.name} no longer write its copies in ${of}. They become outdated`;
    steps.push({ kind: "drop-relation", class: "breaking", sideBySide: false, of, reason });
  }
  return steps;
}
