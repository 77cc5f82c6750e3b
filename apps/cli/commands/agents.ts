import type { CommandSpec, Commands } from '../command.js';
import { present } from '../flags.js';
import { LIST_OPTIONS, listed } from '../lists.js';
import { ago } from '../output/output.js';

export const list: CommandSpec = {
  usage: 'list',
  summary: 'List the agents, by name',
  options: [
    ['--status <status...>', 'STARTING, IDLE, WORKING, DRAINING, ERROR, TERMINATED'],
    ['--capability <name...>', 'that can do all of these'],
    ['--mode <mode>', 'pull or push'],
    ...LIST_OPTIONS,
  ],
  examples: ['agent list', 'agent list --status WORKING --json'],
  run: async (cli, _args, flags) => {
    const filter = present({
      status: flags.list('status') as 'IDLE'[] | undefined,
      capability: flags.list('capability'),
      mode: flags.text('mode') as 'pull' | undefined,
    });
    const agents = await listed(flags, (page) =>
      cli.drover.get('/api/v1/agents', { params: { query: { ...filter, ...page } } }),
    );
    cli.out.rows(
      agents,
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'status', of: ({ status }) => status },
        { title: 'mode', of: ({ mode }) => mode },
        { title: 'runs', of: (agent) => `${agent.liveRuns}/${agent.maxConcurrentTasks}` },
        { title: 'capabilities', of: ({ capabilities }) => capabilities.join(' '), wide: true },
        { title: 'seen', of: ({ lastSeenAt }) => ago(lastSeenAt) },
      ],
      'No agent. `drover worker start` starts one.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <id>',
  summary: 'Show an agent',
  examples: ['agent show $AGENT'],
  run: async (cli, [id = '']) => {
    const agent = await cli.drover.get('/api/v1/agents/{id}', { params: { path: { id } } });
    cli.out.record(agent, Object.entries(agent));
  },
};

const health: CommandSpec = {
  usage: 'health <id>',
  summary: 'Say when an agent was heard, and what of',
  examples: ['agent health $AGENT'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const answer = await cli.drover.get('/api/v1/agents/{id}/health', { params });
    cli.out.record(answer, Object.entries(answer));
  },
};

const register: CommandSpec = {
  usage: 'register <id>',
  summary: 'Register an agent of your own, or change it; its id is a UUID that you choose',
  options: [
    ['--name <name>', 'its name'],
    ['--mode <mode>', 'pull (it claims) or push (a gateway starts it)'],
    ['--capability <name...>', 'what it can do'],
    ['--task-type <name...>', 'the types that it takes; all unless given'],
    ['--slots <count>', 'how many tasks it runs at once'],
    ['--model <name>', 'the model that it uses'],
    ['--command <word...>', 'the command of a push agent, a word each'],
  ],
  examples: ['agent register $(uuidgen) --name reviewer --capability review --slots 2'],
  run: async (cli, [id = ''], flags) => {
    const body = {
      name: flags.required('name'),
      ...present({
        mode: flags.text('mode') as 'pull' | undefined,
        capabilities: flags.list('capability'),
        taskTypes: flags.list('task-type'),
        maxConcurrentTasks: flags.number('slots'),
        model: flags.text('model'),
        command: flags.list('command'),
      }),
    };
    const agent = await cli.drover.put('/api/v1/agents/{id}', { params: { path: { id } }, body });
    cli.out.done(agent, `${agent.id} is registered as ${agent.name}`);
  },
};

const token: CommandSpec = {
  usage: 'token <id>',
  summary: 'Make a token for an agent; it is shown once',
  options: [
    ['--expires <seconds>', 'how long it is valid'],
    ['--rotate', 'end the tokens before it'],
    ['--revoke', 'make none, and end all that there are'],
  ],
  examples: ['agent token $AGENT', 'agent token $AGENT --revoke'],
  run: async (cli, [id = ''], flags) => {
    const params = { path: { id } };
    if (flags.has('revoke')) {
      await cli.drover.delete('/api/v1/agents/{id}/token', { params });
      return cli.out.done({ id }, `The tokens of ${id} are revoked`);
    }
    const body = present({
      expiresInSeconds: flags.number('expires'),
      rotate: flags.has('rotate') || undefined,
    });
    const answer = await cli.drover.post('/api/v1/agents/{id}/token', { params, body });
    cli.out.done(answer, answer.token);
  },
};

const end = (verb: string, graceful: boolean, summary: string, done: string): CommandSpec => ({
  usage: `${verb} <id>`,
  summary,
  options: [['--reason <text>', 'why']],
  examples: [`agent ${verb} $AGENT`],
  run: async (cli, [id = ''], flags) => {
    const agent = await cli.drover.post('/api/v1/agents/{id}/terminate', {
      params: { path: { id } },
      body: { graceful, ...present({ reason: flags.text('reason') }) },
    });
    cli.out.done(agent, `${id} ${done}`);
  },
});

const commands: Commands = {
  agent: {
    summary: 'Register, look at and end agents',
    commands: [
      register,
      list,
      show,
      health,
      token,
      end('drain', true, 'Give an agent no more tasks, and end it when it has none', 'drains'),
      end('terminate', false, 'End an agent; its tasks go to others', 'is terminated'),
    ],
  },
};

export default commands;
