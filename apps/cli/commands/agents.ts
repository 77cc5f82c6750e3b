import type { components } from '#lib/api-client';
import { agentsFolder } from '#lib/kernel';
import type { CommandSpec, Commands } from '../command.js';
import { usageError } from '../failure.js';
import { omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge, formatDuration } from '../output/output.js';

/** Terminated agents are listed on request only. */
const IN_FLEET = ['STARTING', 'IDLE', 'WORKING', 'DRAINING', 'ERROR'];

/** An agent that was only registered is not known to be idle. */
function formatStatus({ status, mode, hasSentHeartbeat }: components['schemas']['Agent']): string {
  return status === 'IDLE' && mode === 'pull' && !hasSentHeartbeat ? 'NO HEARTBEAT' : status;
}

export const list: CommandSpec = {
  usage: 'list',
  summary: 'List agents by name',
  about: 'Terminated agents are listed with --status TERMINATED.',
  options: [
    ['--status <status...>', 'statuses: STARTING, IDLE, WORKING, DRAINING, ERROR, TERMINATED'],
    ['--capability <name...>', 'capabilities that the agent must have'],
    ['--mode <mode>', 'mode: pull or push'],
    ...LIST_OPTIONS,
  ],
  examples: ['agent list', 'agent list --status WORKING --json'],
  run: async (cli, _args, flags) => {
    const filter = omitUndefined({
      status: (flags.list('status')?.map((word) => word.toUpperCase()) ?? IN_FLEET) as 'IDLE'[],
      capability: flags.list('capability'),
      mode: flags.text('mode') as 'pull' | undefined,
    });
    const agents = await readList(flags, (page) =>
      cli.drover.get('/api/v1/agents', { params: { query: { ...filter, ...page } } }),
    );
    cli.out.rows(
      agents,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'status', of: formatStatus },
        { title: 'mode', of: ({ mode }) => mode },
        { title: 'runs', of: (agent) => `${agent.liveRuns}/${agent.maxConcurrentTasks}` },
        { title: 'capabilities', of: ({ capabilities }) => capabilities.join(' '), wide: true },
        { title: 'last seen', of: ({ lastSeenAt }) => formatAge(lastSeenAt) },
      ],
      'No agents found. Start one with `drover worker start`.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <agent>',
  summary: 'Show an agent',
  examples: ['agent show $AGENT'],
  run: async (cli, [id = '']) => {
    const agent = await cli.drover.get('/api/v1/agents/{id}', { params: { path: { id } } });
    cli.out.record(agent, [
      ['id', agent.id],
      ['name', agent.name],
      ['status', formatStatus(agent)],
      ['slots', `${agent.liveRuns} of ${agent.maxConcurrentTasks} in use`],
      ['mode', agent.mode],
      ['model', agent.model],
      ['task types', agent.taskTypes.join(', ') || 'all types'],
      ['capabilities', agent.capabilities.join(', ')],
      ['dedicated to', agent.dedicatedTo.join(', ')],
      ['command', agent.command.join(' ')],
      ['secrets', Object.keys(agent.secrets).join(', ')],
      ['assignment', agent.coordinatorEnabled ? null : 'switched off'],
      ['host', agent.hostName],
      ['version', agent.agentVersion],
      ['restarts', agent.restartCount],
      ['last seen', agent.lastSeenAt ?? 'never'],
      ['resting until', agent.restingUntil],
      ['termination reason', agent.terminationReason],
      ['registered', agent.createdAt],
    ]);
  },
};

const health: CommandSpec = {
  usage: 'health <agent>',
  summary: 'Show the last heartbeat of an agent',
  examples: ['agent health $AGENT'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const answer = await cli.drover.get('/api/v1/agents/{id}/health', { params });
    const { ageSeconds, memoryMb, cpuPercent, progressPercent } = answer;
    cli.out.record(answer, [
      ['health', answer.status],
      ['status', answer.agentStatus],
      ['last heartbeat', ageSeconds === null ? 'never' : `${formatDuration(ageSeconds)} ago`],
      ['stale after', formatDuration(answer.staleThresholdSeconds)],
      ['slots', `${answer.liveRuns} of ${answer.maxConcurrentTasks} in use`],
      ['task', answer.currentTaskId],
      ['progress', progressPercent === null ? null : `${progressPercent}%`],
      ['step', answer.currentStep],
      ['memory', memoryMb === null ? null : `${memoryMb} MiB`],
      ['cpu', cpuPercent === null ? null : `${cpuPercent}%`],
    ]);
  },
};

const register: CommandSpec = {
  usage: 'register <id>',
  summary: 'Register or update your own agent',
  about: 'You choose the ID of the agent. It must be a UUID.',
  options: [
    ['--name <name>', 'name of the agent'],
    ['--mode <mode>', 'pull (the agent claims tasks) or push (a gateway starts it)'],
    ['--capability <name...>', 'capabilities of the agent'],
    ['--task-type <name...>', 'task types that the agent accepts (default all)'],
    ['--slots <count>', 'maximum number of concurrent tasks'],
    ['--model <name>', 'model of the agent'],
    ['--command <word...>', 'command of a push agent, one word per value'],
  ],
  examples: ['agent register $(uuidgen) --name reviewer --capability review --slots 2'],
  run: async (cli, [id = ''], flags) => {
    const body = {
      name: flags.required('name'),
      ...omitUndefined({
        mode: flags.text('mode') as 'pull' | undefined,
        capabilities: flags.list('capability'),
        taskTypes: flags.list('task-type'),
        maxConcurrentTasks: flags.number('slots'),
        model: flags.text('model'),
        command: flags.list('command'),
      }),
    };
    const agent = await cli.drover.put('/api/v1/agents/{id}', { params: { path: { id } }, body });
    cli.out.done(agent, `${agent.id} registered as ${agent.name}`);
  },
};

const token: CommandSpec = {
  usage: 'token <agent>',
  summary: 'Create a token for an agent and print it once',
  options: [
    ['--expires <duration>', 'lifetime, such as 12h or 30d'],
    ['--rotate', 'revoke all earlier tokens'],
    ['--revoke', 'revoke all tokens without creating one'],
  ],
  examples: ['agent token $AGENT', 'agent token $AGENT --revoke'],
  run: async (cli, [id = ''], flags) => {
    const params = { path: { id } };
    if (flags.has('revoke')) {
      await cli.drover.delete('/api/v1/agents/{id}/token', { params });
      return cli.out.done({ id }, `All tokens of ${id} revoked`);
    }
    const body = omitUndefined({
      expiresInSeconds: flags.seconds('expires'),
      rotate: flags.has('rotate') || undefined,
    });
    const answer = await cli.drover.post('/api/v1/agents/{id}/token', { params, body });
    cli.out.done(answer, answer.token);
  },
};

const terminate = (
  verb: string,
  graceful: boolean,
  summary: string,
  result: string,
): CommandSpec => ({
  usage: `${verb} <agent>`,
  summary,
  about: 'A service of workers starts the worker again, as a new agent. Stop the service as well.',
  options: [['--reason <text>', 'reason for the log']],
  examples: [`agent ${verb} $AGENT`],
  run: async (cli, [id = ''], flags) => {
    const agent = await cli.drover.post('/api/v1/agents/{id}/terminate', {
      params: { path: { id } },
      body: { graceful, ...omitUndefined({ reason: flags.text('reason') }) },
    });
    cli.out.done(agent, `${id} ${result}`);
  },
});

const kinds: CommandSpec = {
  usage: 'kinds',
  summary: 'List the coding agents of this machine, and how to get the others',
  examples: ['agent kinds'],
  run: async (cli) => {
    const { findKinds } = await import('#lib/agent-kinds');
    const found = await findKinds({
      searchPath: process.env['PATH'] ?? '',
      folders: agentFolders(),
    });
    cli.out.rows(
      found,
      [
        { title: 'kind', of: ({ name }) => name },
        { title: 'version', of: (one) => (one.installed ? one.version : '-') },
        {
          title: 'program',
          of: (one) => (one.installed ? one.command.join(' ') : one.missing),
          wide: true,
        },
      ],
      'No kinds.',
    );
  },
};

const install: CommandSpec = {
  usage: 'install <kind>',
  summary: 'Install a coding agent on this machine, in the version that Drover was tested with',
  about:
    'npm downloads it into the first folder of DROVER_AGENTS. Without the variable, it is ' +
    '`agents` of DROVER_HOME, or `.cache/agents` of a clone.',
  examples: ['agent install codex'],
  run: async (cli, [name = '']) => {
    const { installKind, kindOf, KINDS } = await import('#lib/agent-kinds');
    const kind = kindOf(name);
    if (kind?.program == null) {
      const known = KINDS.filter(({ program }) => program !== null).map((one) => one.name);
      throw usageError(`The kind must be one of ${known.join(', ')}.`);
    }
    const [folder = ''] = agentFolders();
    const { package: packageName, version, sizeMb } = kind.program.npm;
    cli.out.note(`Installing ${packageName} ${version} (${sizeMb} MiB)`);
    await installKind(kind, folder);
    cli.out.done({ kind: name, folder }, `${name} installed in ${folder}`);
  },
};

/** The folders of DROVER_AGENTS, else the one that `npm start` gives to its workers. */
function agentFolders(): string[] {
  const named = (process.env['DROVER_AGENTS'] ?? '').split(':').filter((path) => path !== '');
  return named.length > 0 ? named : [agentsFolder()];
}

const commands: Commands = {
  agent: {
    summary: 'Register, inspect and terminate agents, and install coding agents',
    commands: [
      kinds,
      install,
      register,
      list,
      show,
      health,
      token,
      terminate('drain', true, 'Drain an agent, then terminate it', 'draining'),
      terminate('terminate', false, 'Terminate an agent and requeue its tasks', 'terminated'),
    ],
  },
};

export default commands;
