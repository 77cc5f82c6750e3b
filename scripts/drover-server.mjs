#!/usr/bin/env node
// The program of the package @drover/server. A clone has `npm start` instead.
const USAGE = `Usage: drover-server <command>

  up [--workers N] [--daemon]            start PostgreSQL, Valkey, a server, workers and a gateway
  down [--graceful] [--timeout 5m]       stop them; the data stays
  status                                 show them
  serve [argument]                       run a server alone (settings in the environment)
  gateway                                run a gateway alone
  worker                                 run a worker alone
`;

const PROGRAMS = {
  up: ['tools/start'],
  down: ['tools/start', 'stop'],
  stop: ['tools/start', 'stop'],
  status: ['tools/start', 'status'],
  serve: ['apps/server'],
  gateway: ['apps/gateway'],
  worker: ['apps/worker'],
};

const [command = '', ...rest] = process.argv.slice(2);
const [program, ...first] = PROGRAMS[command] ?? [];
if (program === undefined) {
  const isAsked = ['--help', '-h', 'help'].includes(command);
  process[isAsked ? 'stdout' : 'stderr'].write(USAGE);
  process.exit(isAsked ? 0 : 2);
}
const main = new URL(`../dist/${program}/main.js`, import.meta.url);
// A process that starts this program again, as `up --daemon` does, names the program alone.
process.argv.splice(1, process.argv.length, main.pathname, ...first, ...rest);
await import(main.href);
