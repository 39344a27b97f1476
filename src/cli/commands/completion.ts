import { RootCommand } from '@bomb.sh/tab';
import tab from '@bomb.sh/tab/commander';
import { jobStatuses } from '../../contract/job-status.ts';
import { jobTypes, knownMarkets } from '../../contract/job-types.ts';
import { keyScopes, operatorRoles } from '../../contract/permission.ts';
import { type CommandProgram, onRun } from '../program.ts';
import { readProfiles } from './profiles.ts';
import { aboutJobType } from './submit/job-types.ts';
import { formats } from './submit/rows.ts';

/**
 * Completion scripts by shell. They read candidates from `gleaner complete`, one per line with a
 * tab before the description, and complete file names if there are none. They never evaluate the
 * typed text.
 */
const completionScripts: Readonly<Record<string, string>> = {
  bash: `_gleaner() {
  local value
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    [[ $value == :* ]] || COMPREPLY+=("$value")
  done < <(gleaner complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _gleaner gleaner
`,
  zsh: `#compdef gleaner
_gleaner() {
  local -a found
  local value about
  while IFS=$'\\t' read -r value about; do
    [[ $value == :* ]] || found+=("\${value//:/\\\\:}:$about")
  done < <(gleaner complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe gleaner found; else _files; fi
}
if [[ $funcstack[1] == _gleaner ]]; then _gleaner "$@"; else compdef _gleaner gleaner; fi
`,
  fish: `function __gleaner_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (gleaner complete -- $words[2..] "$current" 2>/dev/null | string match -v ':*')
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c gleaner -f -a '(__gleaner_complete)'
`,
};

type Complete = (value: string, description: string) => void;

/**
 * Adds `completion <shell>`, which prints a script, and the hidden command that the script calls.
 * Candidates are the declared commands and options, and values that are known without a service.
 * Call it after adding all other commands.
 */
export function addCompletion(program: CommandProgram): void {
  const { io } = program;
  const completion = tab(program, { completionCommandName: 'completion' });
  let typed: readonly string[] = [];
  completion.parse = (words) => {
    typed = words;
    printTo(io.say, () => RootCommand.prototype.parse.call(completion, words));
  };
  const kinds = () => {
    const market = knownMarkets.find((name) => typed.includes(name));
    const matchingTypes = jobTypes.filter(
      (jobType) => market === undefined || jobType.market === market,
    );
    return new Map(matchingTypes.map((jobType) => [jobType.kind, aboutJobType(jobType)]));
  };
  const values: Readonly<Record<string, () => Iterable<readonly [string, string]>>> = {
    market: () => knownMarkets.map((market) => [market, ''] as const),
    kind: kinds,
    status: () => jobStatuses.map((state) => [state, ''] as const),
    profile: () =>
      Object.keys(readProfiles(io.client().configFile).profiles).map((name) => [name, ''] as const),
    format: () => formats.map((format) => [format, ''] as const),
    export: () => [
      ['csv', ''],
      ['jsonl', ''],
    ],
    scopes: () => [...keyScopes, keyScopes.join(',')].map((scopes) => [scopes, ''] as const),
    role: () => operatorRoles.map((role) => [role, ''] as const),
  };
  const handler = (name: string) => {
    const choices = values[name];
    return (
      choices &&
      ((complete: Complete) => {
        for (const [value, about] of choices()) complete(value, about);
      })
    );
  };
  for (const command of completion.commands.values()) {
    for (const [name, option] of command.options) {
      const found = handler(name);
      if (found !== undefined) option.handler = found;
    }
    for (const [name, argument] of command.arguments) {
      const found = handler(name);
      if (found !== undefined) argument.handler = found;
    }
  }
  // The adapter's script for bash requires a function library, evaluates the typed text, and omits
  // files.
  const command = program.commands.find((command) => command.name() === 'completion')!;
  onRun(
    command.description('Print a completion script: bash, zsh, fish, or powershell'),
    async ({ say, write }, _options, shell: string) => {
      const script = completionScripts[shell];
      if (script !== undefined) return write(script);
      printTo(say, () => completion.setup('gleaner', 'gleaner', shell));
    },
  );
}

/**
 * Calls a function of the adapter, which prints to the console of the process, and passes the lines
 * on.
 */
function printTo(say: (line: string) => void, print: () => void): void {
  const { log } = console;
  console.log = say;
  try {
    print();
  } finally {
    console.log = log;
  }
}
