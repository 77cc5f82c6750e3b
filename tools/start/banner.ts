import { RUN_COMMAND, STOP_COMMAND } from './arguments.js';
import type { GatewayAccess } from './gateway.js';
import type { Home } from './home.js';
import type { TaskIsolation } from './isolation.js';

interface Running {
  address: string;
  home: Home;
  gateway: GatewayAccess;
  isolation: TaskIsolation;
  workers: number;
}

/** The text to print once everything runs. */
export function banner({ address, home, gateway, isolation, workers }: Running): string {
  const body = JSON.stringify({
    title: 'Hello',
    taskType: 'greeting',
    inputContext: { command: ['echo', 'hello'] },
  });
  return `
Drover runs at         ${address}
Dashboard              ${address}/ in a browser
API docs               ${address}/docs
Workers                ${workers === 0 ? 'none: a task waits for an agent of yours' : workers}
Push agents            get sessions from the gateway at ${gateway.url}
Isolation              ${isolation.sentence}
Administrator          ${whereabouts(home)}
Data and logs          ${home.folder}

Submit a task, in another terminal:

  ${RUN_COMMAND}

The same over HTTP:

  curl -s ${address}/api/v1/agent-tasks -H "Authorization: Bearer $(cat ${quoted(home.apiKeyFile)})" -H 'Content-Type: application/json' -d '${body}'

\`${STOP_COMMAND}\` stops everything, as Ctrl-C does in the foreground; the data stays.
`;
}

function whereabouts({ administrator, administratorFile }: Home): string {
  return administrator === undefined
    ? `there is one, but ${administratorFile} was removed`
    : `${administrator.email}, with the password in ${administratorFile}`;
}

/** Quotes a path for a shell if it contains a blank or a quote. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
