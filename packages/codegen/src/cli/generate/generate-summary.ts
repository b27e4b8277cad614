import type { GenerateResult } from "../../generate/generate.js";
import type { OutputFile } from "../../generate/output-folder.js";
import { shownPath, styled, type Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { commandLine, wrapped } from "../terminal/text/wrap.js";

type State = OutputFile["state"];

const verbs: Readonly<Record<State, string>> = {
  fresh: "kept",
  stale: "updated",
  missing: "created",
  extra: "removed",
};

const styles = { fresh: "dim", stale: "yellow", missing: "green", extra: "red" } as const;

/** Returns a line for each file that was not up to date. */
export function fileLines(terminal: Terminal, files: readonly OutputFile[], check = false): string {
  const lines = files.flatMap(({ path, state }) => {
    if (state === "fresh") return [];
    const verb = (check ? state : verbs[state]).padEnd(8);
    return [`${styled(terminal.stdout, styles[state], verb)} ${shownPath(terminal, path)}\n`];
  });
  return lines.join("");
}

/** Returns notes about modules that export no model, and modules whose types could not be read. */
export function noteLines(terminal: Terminal, { unread, withoutModel }: GenerateResult): string {
  const note = styled(terminal.stderr, "yellow", "note");
  const notes = [
    ...withoutModel.map(
      (path) =>
        `${shownPath(terminal, path)} exports no model; to omit this note, exclude it from \`models\` with "!"`,
    ),
    ...unread.map(
      (path) =>
        `TypeScript could not read the types of ${shownPath(terminal, path)}, so brands in it become plain types; correct its imports`,
    ),
  ];
  const lines = notes.map((text) => `${wrapped(terminal.stderr, `${note}: ${text}`)}\n`);
  return lines.join("");
}

/** Returns one line about what was done. */
export function summary({ models, files }: GenerateResult): string {
  const count = (...states: State[]) => files.filter(({ state }) => states.includes(state)).length;
  const parts = [
    `${counted(count("stale", "missing"), "file")} written`,
    `${count("fresh")} unchanged`,
    ...(count("extra") > 0 ? [`${count("extra")} removed`] : []),
  ];
  return `${counted(models, "model")}: ${parts.join(", ")}.`;
}

/** Returns one line about what `--check` found. */
export function checkSummary({ files }: GenerateResult): string {
  const changed = files.filter(({ state }) => state !== "fresh").length;
  if (changed === 0) return `${counted(files.length, "file is", "files are")} up to date.`;
  return `${counted(changed, "file is", "files are")} not up to date. To update:\n${commandLine("generate")}`;
}
