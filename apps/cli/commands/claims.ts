import type { Commands } from '../command.js';
import { present } from '../flags.js';

const RUN_OPTION = ['--run <id>', 'the run, where the agent holds several of the task'] as const;

const commands: Commands = {
  claim: {
    usage: 'claim <agent> [task]',
    summary: 'Claim a task for an agent: the one named, or the first that it may take',
    about: 'With the token of the agent (DROVER_AGENT_TOKEN).',
    options: [
      ['--wait <seconds>', 'how long to wait for one'],
      ['--lease <seconds>', 'how long the agent holds it without a word'],
    ],
    examples: ['claim $AGENT', 'claim $AGENT 0198c0de-7000-7000-8000-000000000000 --lease 600'],
    run: async (cli, [id = '', taskId], flags) => {
      const wait = flags.number('wait');
      const { tasks } = await cli.drover
        .with({ timeoutMs: (wait ?? 0) * 1000 + 30_000 })
        .post('/api/v1/agents/{id}/claim', {
          params: { path: { id } },
          body: present({
            taskId,
            maxTasks: 1,
            leaseSeconds: flags.number('lease'),
            waitMs: wait === undefined ? undefined : wait * 1000,
          }),
        });
      cli.out.rows(
        tasks,
        [
          { title: 'task', of: ({ task }) => task.id },
          { title: 'run', of: ({ run }) => run.id },
          { title: 'title', of: ({ task }) => task.title, wide: true },
        ],
        'There is nothing to claim.',
      );
    },
  },
  'claim:renew': {
    usage: 'claim:renew <task>',
    summary: 'Renew the lease of a claimed task',
    options: [RUN_OPTION, ['--lease <seconds>', 'how long from now']],
    examples: ['claim:renew 0198c0de-7000-7000-8000-000000000000'],
    run: async (cli, [id = ''], flags) => {
      const answer = await cli.drover.post('/api/v1/agent-tasks/{id}/renew', {
        params: { path: { id } },
        body: present({ runId: flags.text('run'), leaseSeconds: flags.number('lease') }),
      });
      cli.out.done(answer, `${id} is held until ${answer.leaseExpiresAt}`);
    },
  },
  'claim:release': {
    usage: 'claim:release <task>',
    summary: 'Give a claimed task back, for another agent',
    options: [RUN_OPTION, ['--reason <text>', 'why']],
    examples: ['claim:release 0198c0de-7000-7000-8000-000000000000'],
    run: async (cli, [id = ''], flags) => {
      const answer = await cli.drover.post('/api/v1/agent-tasks/{id}/release', {
        params: { path: { id } },
        body: present({ runId: flags.text('run'), reason: flags.text('reason') }),
      });
      cli.out.done(answer, `${id} is given back`);
    },
  },
};

export default commands;
