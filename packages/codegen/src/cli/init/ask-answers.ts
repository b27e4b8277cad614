import { intro, isCancel, outro, text } from "@clack/prompts";
import { type Answers, answerFault } from "../../init/answers.js";
import type { Terminal } from "../terminal/terminal.js";
import { untilInputEnds } from "../terminal/until-input-ends.js";

const questions: Readonly<Record<keyof Answers, string>> = {
  models: "In which folder are the models?",
  output: "Where does the generated code go?",
  database: "Where does the database live?",
};

/**
 * Asks what was not given on the command line.
 *
 * @param proposed what is taken where somebody only presses Enter.
 * @returns undefined where somebody gives up.
 */
export async function askAnswers(
  terminal: Terminal,
  folder: string,
  given: Partial<Answers>,
  proposed: Answers,
): Promise<Answers | undefined> {
  const { stdin, stdout } = terminal;
  const answers: { -readonly [name in keyof Answers]: string } = { ...proposed, ...given };
  intro("What is proposed is taken with Enter.", { output: stdout });
  for (const name of ["models", "output", "database"] as const) {
    if (given[name] !== undefined) continue;
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
  outro("", { output: stdout });
  return answers;
}
