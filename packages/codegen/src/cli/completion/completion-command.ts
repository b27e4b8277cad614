import { Argument, Command } from "commander";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import type { Terminal } from "../terminal/terminal.js";
import { bashScript } from "./bash-script.js";
import { type CommandPlace, commandPlaces } from "./command-places.js";
import { fishScript } from "./fish-script.js";
import { zshScript } from "./zsh-script.js";

const help = `
Put one of these lines into your shell's own file:
  ~/.bashrc                    source <(keywright completion bash)
  ~/.zshrc, behind compinit    source <(keywright completion zsh)
  ~/.config/fish/config.fish   keywright completion fish | source

Where keywright is installed in projects only, and run by npx, write the script to a file once, and
give the shell a command of that name:
  $ npx keywright completion bash > ~/.keywright-completion.bash
  ~/.bashrc                    source ~/.keywright-completion.bash
                               keywright() { npx --no-install keywright "$@"; }

The script knows the commands of the version that has written it, and runs nothing.`;

const scripts: Readonly<Record<string, (places: readonly CommandPlace[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Creates the command `keywright completion`. */
export function completionCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("completion")
    .description("print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>", "whose script it is").choices(Object.keys(scripts)))
    .addHelpText("after", help);
  return command.action((shell: string) => {
    terminal.stdout.write(scripts[shell]!(commandPlaces(command.parent ?? command)));
    exit(exitCodes.done);
  });
}
