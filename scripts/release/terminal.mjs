import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";

/** The prompt of the shell, with the exit code of the last command. */
const prompt = /\[(\d+)\] next> $/;

/** Milliseconds in which a command must print what is expected. Installing takes longest. */
const patience = 180_000;

/**
 * Opens a shell in a pseudo-terminal, which `script` of util-linux makes, so that programs ask
 * their questions and show their progress as they do to a person.
 *
 * @returns `run(command)` types a command and returns what it printed; it throws if the command
 *   fails. `answer(question)` waits for a question and presses Enter. See `press` for other keys.
 */
export async function openTerminal(folder, env) {
  const { CI, NO_COLOR, ...own } = process.env;
  const shell =
    "stty rows 40 cols 100; exec env 'PS1=[$?] next> ' bash --noprofile --norc --noediting -i";
  const child = spawn("script", ["--quiet", "--flush", "--command", shell, "/dev/null"], {
    cwd: folder,
    env: { ...own, ...env, TERM: "xterm-256color", COLUMNS: "100" },
  });
  let output = "";
  let hasEnded = false;
  const waiting = new Set();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      for (const look of waiting) look();
    });
  child.once("close", () => {
    hasEnded = true;
    for (const look of waiting) look();
  });
  /** What has been printed since the last call of `until` ended, without colors. */
  const shown = () => stripVTControlCharacters(output).replaceAll("\r", "");

  function until(pattern, what) {
    return new Promise((resolve, reject) => {
      const end = (settle, value) => {
        clearTimeout(timer);
        waiting.delete(look);
        settle(value);
      };
      const fail = (why) =>
        end(reject, new Error(`The terminal ${why} before ${what}:\n${shown().slice(-4000)}`));
      const look = () => {
        const found = pattern.exec(shown());
        if (found !== null) {
          const text = shown();
          output = text.slice(found.index + found[0].length);
          end(resolve, { text: text.slice(0, found.index), found });
        } else if (hasEnded) fail("ended");
      };
      const timer = setTimeout(() => fail(`showed nothing more for ${patience} ms`), patience);
      waiting.add(look);
      look();
    });
  }

  const press = (keys) => child.stdin.write(keys);
  async function ends(command) {
    const { text, found } = await until(prompt, `\`${command}\` ended`);
    return { exitCode: Number(found[1]), text };
  }
  await ends("the shell");
  return {
    press,
    ends,
    async answer(question, keys = "\r") {
      await until(question, `it asked ${question}`);
      press(keys);
    },
    async run(command) {
      press(`${command}\r`);
      const { exitCode, text } = await ends(command);
      if (exitCode === 0) return text;
      throw new Error(`${command} ended with ${exitCode}:\n${text.slice(-4000)}`);
    },
    async close() {
      press("exit\r");
      if (!hasEnded) await once(child, "close");
    },
  };
}
