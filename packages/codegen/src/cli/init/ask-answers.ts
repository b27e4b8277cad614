import { confirm, intro, isCancel, outro, select, text } from "@clack/prompts";
import { type Answers, answerFault } from "../../init/answers.js";
import { skillFolder } from "../../init/plan-skill.js";
import { untilInputEnds } from "../terminal/process/until-input-ends.js";
import type { Terminal } from "../terminal/terminal.js";

/** The answers, and what else is written: `"type": "module"` in `package.json`, and a skill. */
export interface InitAnswers extends Answers {
  readonly esm: boolean;
  /** True to add instructions for coding agents. */
  readonly skill: boolean;
}

/**
 * Asks for the answers that `preset` lacks. Returns undefined if the user cancels.
 *
 * @param isModule true if `package.json` contains `"type": "module"`. Then it is not asked for.
 */
export async function askAnswers(
  terminal: Terminal,
  folder: string,
  preset: Partial<InitAnswers>,
  proposed: InitAnswers,
  isModule: boolean,
): Promise<InitAnswers | undefined> {
  const { stdin: input, stdout: output } = terminal;
  const askPath = (message: string, proposal: string, fault: (answer: string) => Fault) =>
    untilInputEnds(terminal, (signal) => {
      const validate = (answer: string | undefined) => (answer ? fault(answer) : undefined);
      const shown = { message, placeholder: proposal, defaultValue: proposal };
      return text({ ...shown, validate, input, output, signal });
    });
  const askFolder = (name: keyof Answers, message: string) =>
    askPath(message, proposed[name], (answer) => answerFault(folder, name, answer));
  const askDatabase = async () => {
    const engine = await untilInputEnds(terminal, (signal) =>
      select({
        message: "What should contain the database?",
        options: engines,
        input,
        output,
        signal,
      }),
    );
    if (isCancel(engine)) return engine;
    if (engine === "level") return await askFolder("database", "Which folder?");
    const file = await askPath("Which file?", `${proposed.database}.sqlite`, (answer) =>
      answerFault(folder, "database", `sqlite:${answer}`),
    );
    return isCancel(file) ? file : `sqlite:${file}`;
  };
  const askEsm = () =>
    untilInputEnds(terminal, (signal) =>
      confirm({
        message: 'Set "type": "module" in package.json? Keywright consists of ES modules.',
        initialValue: proposed.esm,
        input,
        output,
        signal,
      }),
    );

  const askSkill = () =>
    untilInputEnds(terminal, (signal) =>
      confirm({
        message: `Add instructions for coding agents in ${skillFolder(folder)}?`,
        initialValue: proposed.skill,
        input,
        output,
        signal,
      }),
    );

  intro("Press Enter to accept a proposal.", { output });
  const models = preset.models ?? (await askFolder("models", "Which folder contains the models?"));
  if (isCancel(models)) return undefined;
  const generated =
    preset.output ?? (await askFolder("output", "Which folder should contain the generated code?"));
  if (isCancel(generated)) return undefined;
  const database = preset.database ?? (await askDatabase());
  if (isCancel(database)) return undefined;
  const esm = isModule || preset.esm !== undefined ? proposed.esm : await askEsm();
  if (isCancel(esm)) return undefined;
  const skill = preset.skill ?? (await askSkill());
  if (isCancel(skill)) return undefined;
  outro("", { output });
  return { models, output: generated, database, esm, skill };
}

type Fault = string | undefined;

const engines = [
  { value: "level", label: "A LevelDB folder", hint: "one owner, others attach" },
  { value: "sqlite", label: "An SQLite file", hint: "several processes open it" },
];
