import type { Commands } from '../command.js';
import { omitUndefined } from '../flags.js';

const RUN_OPTION = ['--run <id>', 'run ID, if the agent holds several runs of the task'] as const;

const commands: Commands = {
  claim: {
    usage: 'claim <agent> [task]',
    summary: 'Claim a task for an agent',
    about:
      'Claims the given task, or else the first task that the agent can claim. ' +
      'Set DROVER_AGENT_TOKEN to the token of the agent.',
    options: [
      ['--wait <seconds>', 'maximum wait for a task in seconds'],
      ['--lease <seconds>', 'duration of the lease in seconds'],
    ],
    examples: ['claim $AGENT', 'claim $AGENT 0198c0de-7000-7000-8000-000000000000 --lease 600'],
    run: async (cli, [id = '', taskId], flags) => {
      const wait = flags.number('wait');
      const { tasks } = await cli.drover
        .with({ timeoutMs: (wait ?? 0) * 1000 + 30_000 })
        .post('/api/v1/agents/{id}/claim', {
          params: { path: { id } },
          body: omitUndefined({
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
        'No task to claim.',
      );
    },
  },
  'claim:renew': {
    usage: 'claim:renew <task>',
    summary: 'Renew the lease of a claimed task',
    options: [RUN_OPTION, ['--lease <seconds>', 'new duration of the lease in seconds']],
    examples: ['claim:renew 0198c0de-7000-7000-8000-000000000000'],
    run: async (cli, [id = ''], flags) => {
      const answer = await cli.drover.post('/api/v1/agent-tasks/{id}/renew', {
        params: { path: { id } },
        body: omitUndefined({ runId: flags.text('run'), leaseSeconds: flags.number('lease') }),
      });
      cli.out.done(answer, `Lease of ${id} renewed until ${answer.leaseExpiresAt}`);
    },
  },
  'claim:release': {
    usage: 'claim:release <task>',
    summary: 'Release a claimed task for another agent',
    options: [RUN_OPTION, ['--reason <text>', 'reason for the log']],
    examples: ['claim:release 0198c0de-7000-7000-8000-000000000000'],
    run: async (cli, [id = ''], flags) => {
      const answer = await cli.drover.post('/api/v1/agent-tasks/{id}/release', {
        params: { path: { id } },
        body: omitUndefined({ runId: flags.text('run'), reason: flags.text('reason') }),
      });
      cli.out.done(answer, `${id} released`);
    },
  },
};

export default commands;
