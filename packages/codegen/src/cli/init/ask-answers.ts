import { confirm, intro, isCancel, outro, text } from "@clack/prompts";
import { type Answers, answerFault } from "../../init/answers.js";
import { untilInputEnds } from "../terminal/process/until-input-ends.js";
import type { Terminal } from "../terminal/terminal.js";

const questions: Readonly<Record<keyof Answers, string>> = {
  models: "Which folder contains the models?",
  output: "Which folder should contain the generated code?",
  database: "Which folder should contain the database?",
};

/** The answers, and whether `package.json` gets `"type": "module"`. */
export interface InitAnswers extends Answers {
  readonly esm: boolean;
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
  const { stdin, stdout } = terminal;
  const answers: { -readonly [name in keyof Answers]: string } = { ...proposed, ...preset };
  intro("Press Enter to accept a proposal.", { output: stdout });
  for (const name of ["models", "output", "database"] as const) {
    if (preset[name] !== undefined) continue;
    const answer = await untilInputEnds(terminal, (signal) =>
      text({
        message: questions[name],
        placeholder: proposed[name],
        defaultValue: proposed[name],
        validate: (value) => (value ? answerFault(folder, name, value) : undefined),
        input: stdin,
        output: stdout,
        signal,
      }),
    );
    if (isCancel(answer)) return undefined;
    answers[name] = answer;
  }
  let { esm } = proposed;
  if (!isModule && preset.esm === undefined) {
    const answer = await untilInputEnds(terminal, (signal) =>
      confirm({
        message: 'Set "type": "module" in package.json? Keywright consists of ES modules.',
        initialValue: esm,
        input: stdin,
        output: stdout,
        signal,
      }),
    );
    if (isCancel(answer)) return undefined;
    esm = answer;
  }
  outro("", { output: stdout });
  return { ...answers, esm };
}
