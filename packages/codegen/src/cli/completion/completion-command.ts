import { Argument, Command } from "commander";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { jsonOption } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { helpText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { bashScript } from "./bash-script.js";
import { type CommandPlace, commandPlaces } from "./command-places.js";
import { fishScript } from "./fish-script.js";
import { zshScript } from "./zsh-script.js";

const help = helpText(`
Add one of these lines to the startup file of your shell:
  ~/.bashrc                    source <(keywright completion bash)
  ~/.zshrc, after compinit     source <(keywright completion zsh)
  ~/.config/fish/config.fish   keywright completion fish | source

If keywright is installed only in projects and runs with npx, save the script to a file once, and
define a shell function with the name of the command:
  $ npx keywright completion bash > ~/.keywright-completion.bash
  ~/.bashrc                    source ~/.keywright-completion.bash
                               keywright() { npx --no-install keywright "$@"; }

The script contains the commands of the version that printed it. It runs no other program.`);

const scripts: Readonly<Record<string, (places: readonly CommandPlace[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function completionCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("completion")
    .description("print a script that completes keywright commands in a shell")
    .addArgument(
      new Argument("<shell>", "the shell that runs the script").choices(Object.keys(scripts)),
    )
    .addOption(jsonOption())
    .addHelpText("after", help);
  return command.action((shell: string) => {
    const script = scripts[shell]!(commandPlaces(command.parent ?? command));
    if (terminal.isJson) writeJson(terminal, { shell, script });
    else terminal.stdout.write(script);
    exit(exitCodes.done);
  });
}
