import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { runCommand } from './command.ts';

/** A program for shell scripts. */
export interface ShellCommand {
  /** Folder of the program, for PATH. */
  folder: string;
  close(): Promise<void>;
}

/** A call of the program. */
interface Call {
  parameters: string[];
  env: Record<string, string>;
  input: string;
}

/**
 * Creates a program `gleaner` in a new folder, which has the process of the test run the command
 * line: scripts start many commands, and each process would load all modules. It reads standard
 * input only for the argument `-`.
 */
export async function createShellCommand(folder: string): Promise<ShellCommand> {
  const socket = join(folder, 'socket');
  const server = createServer(async (request, response) => {
    const { parameters, env, input } = (await json(request)) as Call;
    const result = await runCommand(parameters, env, { folder: env.PWD!, input });
    response.end(JSON.stringify(result));
  });
  await mkdir(folder);
  await once(server.listen(socket), 'listening');
  await writeFile(join(folder, 'gleaner'), programOf(socket), { mode: 0o755 });
  return {
    folder,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}

const programOf = (socket: string) => `#!/bin/bash
case " $* " in *' - '*) exec 3<&0 ;; *) exec 3< /dev/null ;; esac
result=$(printf '%s\\036' "$@" |
  jq -Rs --rawfile input /dev/fd/3 '{ parameters: (split("\\u001e") | .[:-1]), env: $ENV, input: $input }' |
  curl -sS --unix-socket '${socket}' --data-binary @- http://localhost/) || exit
jq -j .stderr <<< "$result" >&2
jq -j .stdout <<< "$result"
exit "$(jq .code <<< "$result")"
`;
